#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXC 1000
static int cl[MAXC][3], val[512];

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    FILE *f = fopen(argv[1], "r");
    if (!f) { perror(argv[1]); return 2; }
    int nv = 0, nc = 0;
    char line[256];
    int k = 0;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == 'c') continue;
        if (line[0] == 'p') { if (sscanf(line, "p cnf %d %d", &nv, &nc) != 2) return 2; continue; }
        if (k < MAXC && sscanf(line, "%d %d %d", &cl[k][0], &cl[k][1], &cl[k][2]) == 3) k++;
    }
    fclose(f);
    srand(atoi(argv[2]));
    for (int i = 1; i <= nv && i < 512; i++) val[i] = rand() & 1;
    for (long step = 0; step < 100000; step++) {
        int bad = -1;
        for (int c = 0; c < k && bad < 0; c++) {
            int ok = 0;
            for (int j = 0; j < 3; j++) ok |= cl[c][j] > 0 ? val[cl[c][j]] : !val[-cl[c][j]];
            if (!ok) bad = c;
        }
        if (bad < 0) {
            for (int i = 1; i <= nv; i++) printf("%d ", val[i] ? i : -i);
            putchar('\n');
            return 0;
        }
        int v = abs(cl[bad][rand() % 3]);
        val[v] = !val[v];
    }
    return 1;
}
