#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100, count = 0;
    for (int i = 2; i <= n; i++) {
        int p = 1;
        for (int d = 2; d * d <= i; d++)
            if (i % d == 0) { p = 0; break; }
        count += p;
    }
    printf("%d\n", count);
    return 0;
}
