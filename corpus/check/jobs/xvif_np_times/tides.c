/* Amplitudes of eight constituents on a ring of cells, one part of it for each rank. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double step = argc > 1 ? atof(argv[1]) : 1.0, sum = 0, all = 0;
    int days = argc > 2 ? atoi(argv[2]) : 30;
    for (int cell = rank; cell < 36000; cell += size)
        for (double t = 0; t < days * 24; t += step)
            sum += fabs(cos(0.5059 * t + cell * 1.745e-4) + 0.46 * cos(0.5236 * t));
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("mean height %.6f\n", all / 36000 / (days * 24 / step));
    MPI_Finalize();
    return 0;
}
