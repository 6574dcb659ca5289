#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000, count = 0;
    unsigned char *composite = calloc(n + 1, 1);

    for (unsigned long p = 2; p * p <= n; p++)
        if (!composite[p])
            for (unsigned long q = p * p; q <= n; q += p)
                composite[q] = 1;
    for (unsigned long i = 2; i <= n; i++)
        count += !composite[i];
    printf("%lu primes up to %lu\n", count, n);
    free(composite);
    return 0;
}
