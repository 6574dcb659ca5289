#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "grid.h"

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10;
    double u[NMAX];
    for (int i = 0; i < n && i < NMAX; i++) {
        u[i] = exp(-0.1 * i);
        printf("%d %g\n", i, u[i]);
    }
    return 0;
}
