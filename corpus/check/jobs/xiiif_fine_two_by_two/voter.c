#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define L 64

/* synchronous voter model with zealots, one opinion per site */
static unsigned char s[2][L * L];

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    unsigned seed = atoi(argv[1]);
    double zealot = atof(argv[2]);
    srand(seed);
    for (int i = 0; i < L * L; i++) s[0][i] = rand() & 1;
    int cur = 0;
    for (int t = 0; t < 200; t++) {
        #pragma omp parallel for
        for (int y = 0; y < L; y++) {
            unsigned r = seed * 7919u + t * 104729u + y;
            for (int x = 0; x < L; x++) {
                int d = rand_r(&r) >> 4 & 3;
                int nx = (x + (d == 0) - (d == 1) + L) % L;
                int ny = (y + (d == 2) - (d == 3) + L) % L;
                s[!cur][y * L + x] = rand_r(&r) / (RAND_MAX + 1.0) < zealot ? 1 : s[cur][ny * L + nx];
            }
        }
        cur = !cur;
    }
    long sum = 0;
    for (int i = 0; i < L * L; i++) sum += s[cur][i];
    printf("%u %.4f\n", seed, sum / (double)(L * L));
    return 0;
}
