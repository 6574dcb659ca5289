#include <stdio.h>
#include <stdlib.h>
#include "grid.h"

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 10;
    double u[NX] = {0};
    u[NX / 2] = 1.0;
    for (int t = 0; t < steps; t++)
        relax(u);
    for (int i = 0; i < NX; i++)
        printf("%d %.6f\n", i, u[i]);
    return 0;
}
