#include <math.h>
#include <stdio.h>

int main(void)
{
    double x, mean = 0, m2 = 0;
    long n = 0;
    while (scanf("%lf", &x) == 1) {
        double d = x - mean;
        n++;
        mean += d / n;
        m2 += d * (x - mean);
    }
    printf("%ld numbers, mean %g, sd %g\n", n, mean, n > 1 ? sqrt(m2 / (n - 1)) : 0.0);
    return 0;
}
