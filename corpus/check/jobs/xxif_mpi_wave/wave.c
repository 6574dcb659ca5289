#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long n = argc > 1 ? atol(argv[1]) : 1000, local = n / size;
    int steps = argc > 2 ? atoi(argv[2]) : 100;
    double *u = calloc(local + 2, sizeof *u), *v = calloc(local + 2, sizeof *v);
    if (!u || !v) MPI_Abort(MPI_COMM_WORLD, 1);
    int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (long i = 1; i <= local; i++) u[i] = exp(-pow((rank * local + i - n / 2.0) / 50.0, 2));
    for (int s = 0; s < steps; s++) {
        MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 0, &u[local + 1], 1, MPI_DOUBLE, right, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&u[local], 1, MPI_DOUBLE, right, 1, &u[0], 1, MPI_DOUBLE, left, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (long i = 1; i <= local; i++) v[i] += 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1]);
        for (long i = 1; i <= local; i++) u[i] += v[i];
    }
    double e = 0, sum = 0;
    for (long i = 1; i <= local; i++) e += u[i] * u[i];
    MPI_Reduce(&e, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks, norm %g\n", size, sum);
    free(u); free(v);
    return MPI_Finalize();
}
