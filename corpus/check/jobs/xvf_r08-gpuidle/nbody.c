#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double x[3] = {0.0, 1.0, 2.5}, v[3] = {0.0, 0.1, -0.05};

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 1000;
    const double dt = 1e-4;
    for (long s = 0; s < steps; s++) {
        double a[3] = {0};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                if (i != j) {
                    double d = x[j] - x[i];
                    a[i] += d / (pow(fabs(d), 3) + 0.01);
                }
        for (int i = 0; i < 3; i++) { v[i] += dt * a[i]; x[i] += dt * v[i]; }
    }
    printf("%g %g %g\n", x[0], x[1], x[2]);
    return 0;
}
