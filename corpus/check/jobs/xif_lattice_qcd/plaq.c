#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int r, n;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    int L = argc > 1 ? atoi(argv[1]) : 8;
    double beta = argc > 2 ? atof(argv[2]) : 5.0, s = 0, t;
    for (int i = r; i < L * L; i += n) s += cos(i / beta);
    MPI_Reduce(&s, &t, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!r) printf("%.6f\n", t / (L * L));
    MPI_Finalize();
    return 0;
}
