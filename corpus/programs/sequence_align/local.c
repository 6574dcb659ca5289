/* Smith-Waterman with affine gaps, all pairs of generated sequences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 600
static char seq[64][LENGTH];

static int max2(int a, int b) { return a > b ? a : b; }

static int align(const char *a, const char *b)
{
    int h[LENGTH + 1] = {0}, e[LENGTH + 1], best = 0;
    memset(e, 0, sizeof e);
    for (int i = 0; i < LENGTH; i++) {
        int diagonal = 0, f = 0;
        for (int j = 1; j <= LENGTH; j++) {
            e[j] = max2(e[j] - 1, h[j] - 4);
            f = max2(f - 1, h[j - 1] - 4);
            int value = diagonal + (a[i] == b[j - 1] ? 3 : -2);
            value = max2(max2(value, 0), max2(e[j], f));
            diagonal = h[j];
            h[j] = value;
            best = max2(best, value);
        }
    }
    return best;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 8, pairs = 0;
    long sum = 0;
    FILE *out = fopen("scores.tsv", "w");
    if (!out || count > 64)
        return 1;
    srand(1);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < LENGTH; k++)
            seq[i][k] = "ACGT"[rand() & 3];
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            int s = align(seq[i], seq[j]);
            fprintf(out, "%d\t%d\t%d\n", i, j, s);
            sum += s;
            pairs++;
        }
    fclose(out);
    printf("%d pairs, mean %.1f\n", pairs, (double)sum / pairs);
    return 0;
}
