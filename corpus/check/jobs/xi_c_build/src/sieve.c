#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    int n = atoi(argv[1]), c = 0;
    char *s = calloc(n + 1, 1);
    for (int i = 2; i <= n; i++) {
        if (s[i]) continue;
        c++;
        for (long j = (long)i * i; j <= n; j += i) s[j] = 1;
    }
    printf("primes %d\n", c);
    free(s);
    return 0;
}
