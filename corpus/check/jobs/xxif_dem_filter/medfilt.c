/* 3x3 median filter of a raw float grid */
#include <stdio.h>
#include <stdlib.h>

static int cmp(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t nrow, ncol, n;
    if (argc != 4) { fprintf(stderr, "usage: medfilt HDR IN OUT\n"); return 2; }

    FILE *h = fopen(argv[1], "r");
    if (!h || fscanf(h, "%zu %zu", &nrow, &ncol) != 2) { perror(argv[1]); return 1; }
    fclose(h);

    n = nrow * ncol;                       /* 2.5e9 cells, 10 GB a grid */
    float *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    if (!in || !out) { perror("malloc"); return 1; }

    FILE *f = fopen(argv[2], "rb");
    if (!f || fread(in, sizeof *in, n, f) != n) { perror(argv[2]); return 1; }
    fclose(f);

    for (size_t r = 0; r < nrow; r++)
        for (size_t c = 0; c < ncol; c++) {
            float w[9];
            int k = 0;
            for (int dr = -1; dr <= 1; dr++)
                for (int dc = -1; dc <= 1; dc++) {
                    long rr = (long)r + dr, cc = (long)c + dc;
                    if (rr < 0 || cc < 0 || rr >= (long)nrow || cc >= (long)ncol) continue;
                    w[k++] = in[rr * ncol + cc];
                }
            qsort(w, k, sizeof *w, cmp);
            out[r * ncol + c] = w[k / 2];
        }

    f = fopen(argv[3], "wb");
    if (!f || fwrite(out, sizeof *out, n, f) != n) { perror(argv[3]); return 1; }
    return fclose(f);
}
