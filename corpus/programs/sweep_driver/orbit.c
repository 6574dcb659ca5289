#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* orbit DT STEPS: energy drift of a leapfrog orbit */
int main(int argc, char **argv)
{
    double dt = atof(argv[1]), x = 1, y = 0, u = 0, v = 0.8;
    long steps = atol(argv[2]);
    for (long s = 0; s < steps; s++) {
        double r3 = pow(x * x + y * y, 1.5);
        u -= dt * x / r3, v -= dt * y / r3;
        x += dt * u, y += dt * v;
    }
    printf("%g %.12f\n", dt, 0.5 * (u * u + v * v) - 1 / sqrt(x * x + y * y));
    return 0;
}
