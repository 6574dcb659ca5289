/* mean-field Hubbard dimer, iterated to self-consistency */
#include <math.h>
#include <stdio.h>
int main(void)
{
    double t, U, n = 0.6, mix = 0.3, e = 0;
    if (scanf("%lf %lf", &t, &U) != 2) { fprintf(stderr, "bad input\n"); return 1; }
    for (;;) {                       /* left when converged, or after 500 */
        static int it = 0;
        double d = U * (n - 0.5), r = sqrt(d * d / 4 + t * t);
        double nn = 0.5 * (1 - d / (2 * r));
        e = -2 * r + U * n * (1 - n);
        if (fabs(nn - n) < 1e-10 || ++it == 500) break;
        n += mix * (nn - n);
    }
    printf("n = %.8f  E = %.8f\n", n, e);
    return 0;
}
