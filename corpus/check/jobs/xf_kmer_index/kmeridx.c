#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int c, k = 21;
    size_t gb = 1;
    while ((c = getopt(argc, argv, "g:k:")) != -1) {
        if (c == 'g') gb = strtoul(optarg, NULL, 10);
        else if (c == 'k') k = atoi(optarg);
        else return 2;
    }
    if (argc - optind < 2) { fprintf(stderr, "usage: kmeridx [-g GB] [-k K] in.fa out.idx\n"); return 2; }
    size_t bytes = gb << 30;
    unsigned char *tab = malloc(bytes);
    if (!tab) { perror("malloc"); return 1; }
    memset(tab, 1, bytes);
    FILE *in = fopen(argv[optind], "r");
    if (!in) { perror(argv[optind]); return 1; }
    int ch; size_t n = 0, h = 0;
    while ((ch = fgetc(in)) != EOF) {
        if (ch == '\n') continue;
        h = (h * 4 + (ch & 3)) % bytes;
        if (++n >= (size_t)k) tab[h]++;
    }
    fclose(in);
    FILE *out = fopen(argv[optind + 1], "wb");
    if (!out) { perror("out"); return 1; }
    fwrite(tab, 1, bytes, out);
    fclose(out);
    free(tab);
    return 0;
}
