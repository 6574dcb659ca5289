/* Temperature of many thin rods, each solved on its own until it is steady. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 400

static double solve(double left, double right, int *rounds)
{
    double t[CELLS], next[CELLS], change;
    int i;

    for (i = 0; i < CELLS; i++)
        t[i] = 0.0;
    t[0] = next[0] = left;
    t[CELLS - 1] = next[CELLS - 1] = right;
    *rounds = 0;
    do {
        change = 0.0;
        for (i = 1; i < CELLS - 1; i++) {
            next[i] = t[i] + 0.4 * (t[i - 1] - 2 * t[i] + t[i + 1]);
            change = fmax(change, fabs(next[i] - t[i]));
        }
        for (i = 1; i < CELLS - 1; i++)
            t[i] = next[i];
    } while (change > 1e-5 && ++*rounds < 200000);
    return t[CELLS / 2];
}

int main(int argc, char **argv)
{
    int rods = argc > 1 ? atoi(argv[1]) : 10, r, rounds;
    double sum = 0;

    for (r = 0; r < rods; r++) {
        double middle = solve(20 + r, 90 - r, &rounds);
        sum += middle;
        printf("rod %d: %.3f after %d rounds\n", r, middle, rounds);
    }
    printf("mean %.3f\n", sum / rods);
    return 0;
}
