#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, np;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    int n = atoi(argv[1]);
    long sweeps = atol(argv[2]);
    double T = 2.0 + 0.02 * rank, E = 0;
    signed char *s = malloc(n * n);
    srand(99 + rank);
    for (int i = 0; i < n * n; i++) s[i] = rand() & 1 ? 1 : -1;
    for (long t = 0; t < sweeps; t++) {
        for (int k = 0; k < n * n; k++) {
            int i = rand() % n, j = rand() % n;
            int nb = s[((i + 1) % n) * n + j] + s[((i + n - 1) % n) * n + j]
                   + s[i * n + (j + 1) % n] + s[i * n + (j + n - 1) % n];
            double dE = 2.0 * s[i * n + j] * nb;
            if (dE <= 0 || drand48() < exp(-dE / T)) { s[i * n + j] *= -1; E += dE; }
        }
        int mate = (t & 1) == (rank & 1) ? rank + 1 : rank - 1;
        if (t % 100 < 2 && mate >= 0 && mate < np) {
            double other;
            MPI_Sendrecv(&E, 1, MPI_DOUBLE, mate, 0, &other, 1, MPI_DOUBLE, mate, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    printf("%d %.3f %.6f\n", rank, T, E / (n * n));
    MPI_Finalize();
    return 0;
}
