/* allelic trend per SNP: correlation of dosage and phenotype */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define MAXN 5000
int main(int argc, char **argv)
{
    if (argc != 3) { fprintf(stderr, "usage: assoc GENO PHENO\n"); return 2; }
    static double y[MAXN], g[MAXN];
    int n = 0;
    FILE *p = fopen(argv[2], "r");
    if (!p) { perror(argv[2]); return 1; }
    while (n < MAXN && fscanf(p, "%lf", &y[n]) == 1) n++;
    fclose(p);
    FILE *f = fopen(argv[1], "r");
    if (!f) { perror(argv[1]); return 1; }
    char id[64];
    while (fscanf(f, "%63s", id) == 1) {
        double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
        for (int i = 0; i < n; i++) {
            if (fscanf(f, "%lf", &g[i]) != 1) { fprintf(stderr, "%s: short row\n", id); return 1; }
            sx += g[i]; sy += y[i]; sxx += g[i]*g[i]; syy += y[i]*y[i]; sxy += g[i]*y[i];
        }
        double r = (n*sxy - sx*sy) / sqrt((n*sxx - sx*sx) * (n*syy - sy*sy));
        printf("%s\t%.5f\n", id, r * sqrt((n - 2) / (1 - r*r)));
    }
    fclose(f);
    return 0;
}
