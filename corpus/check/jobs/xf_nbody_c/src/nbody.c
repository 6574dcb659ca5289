#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#define MAXB 64
static double x[MAXB], y[MAXB], vx[MAXB], vy[MAXB], m[MAXB];

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s bodies steps dt\n", argv[0]);
        return 1;
    }
    FILE *f = fopen(argv[1], "r");
    if (!f) { perror(argv[1]); return 1; }
    int n = 0;
    while (n < MAXB && fscanf(f, "%lf %lf %lf %lf %lf", &m[n], &x[n], &y[n], &vx[n], &vy[n]) == 5) n++;
    fclose(f);
    int steps = atoi(argv[2]);
    double dt = atof(argv[3]);
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if (i == j) continue;
                double dx = x[j] - x[i], dy = y[j] - y[i];
                double r = sqrt(dx * dx + dy * dy + 1e-6);
                double a = m[j] / pow(r, 3.0);
                vx[i] += a * dx * dt;
                vy[i] += a * dy * dt;
            }
        for (int i = 0; i < n; i++) { x[i] += vx[i] * dt; y[i] += vy[i] * dt; }
        if (s % 10 == 0)
            for (int i = 0; i < n; i++) printf("%d %d %.5f %.5f\n", s, i, x[i], y[i]);
    }
    return 0;
}
