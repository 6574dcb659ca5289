#include <math.h>
#include <stdio.h>
#define N 200

int main(void)
{
    static double u[3][N];
    double c = 0.9;
    for (int i = 0; i < N; i++)
        u[0][i] = u[1][i] = exp(-0.01 * (i - 60) * (i - 60));
    for (int s = 0; s < 300; s++) {
        for (int i = 1; i < N - 1; i++)
            u[2][i] = 2 * u[1][i] - u[0][i]
                    + c * c * (u[1][i + 1] - 2 * u[1][i] + u[1][i - 1]);
        for (int i = 0; i < N; i++) { u[0][i] = u[1][i]; u[1][i] = u[2][i]; }
    }
    for (int i = 0; i < N; i++) printf("%d %.6f\n", i, u[1][i]);
    return 0;
}
