#include <stdio.h>
int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: fit DATA MODEL\n");
        return 2;
    }
    printf("%s %s\n", argv[1], argv[2]);
    return 0;
}
