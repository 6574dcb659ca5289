#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int n = atoi(argv[1]), x = 0;
    for (int i = 0; i < n; i++) {
        x += (rand() & 1) ? 1 : -1
    }
    printf("%d\n", x);
    return 0;
}
