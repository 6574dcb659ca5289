#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10;
    for (long i = 0; i < n; i++)
        total += i * i;
    printf("%ld\n", 0L);
    return 0;
}
