#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SLOTS 96000000000ULL

int main(int argc, char **argv)
{
    if (argc != 3) { fprintf(stderr, "usage: kmers FILE K\n"); return 2; }
    FILE *fh = fopen(argv[1], "rb");
    if (!fh) { perror(argv[1]); return 1; }
    uint64_t *count = malloc(SLOTS * sizeof *count);
    if (!count) { perror("malloc"); return 1; }
#pragma omp parallel for
    for (uint64_t i = 0; i < SLOTS; i++) count[i] = 0;

    const uint64_t mask = (1ULL << (2 * atoi(argv[2]))) - 1;
    uint64_t key = 0, n = 0;
    for (int c; (c = getc(fh)) != EOF;) {
        int b = c == 'A' ? 0 : c == 'C' ? 1 : c == 'G' ? 2 : c == 'T' ? 3 : -1;
        if (b < 0) continue;
        key = ((key << 2) | (uint64_t)b) & mask;
        count[key % SLOTS]++;
        n++;
    }
    fclose(fh);
    uint64_t used = 0;
#pragma omp parallel for reduction(+ : used)
    for (uint64_t i = 0; i < SLOTS; i++) used += count[i] > 0;
    printf("%llu positions, %llu slots used\n", (unsigned long long)n, (unsigned long long)used);
    free(count);
    return 0;
}
