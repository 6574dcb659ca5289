#!/bin/bash -l
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=16
#SBATCH --time=00:30:00
#SBATCH --mem-per-cpu=1G
module load gcc/12.2.0 openmpi/4.1.5
cat > ring.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
  int rank, size, token = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else token = argc > 1 ? atoi(argv[1]) : 7;
  MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  if (!rank) { MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); printf("%d\n", token); }
  return MPI_Finalize();
}
C
mpicc -O2 -Wall -o ring ring.c -lm || exit 1
srun --mpi=pmix ./ring 42
mpirun -np "$SLURM_NTASKS" ./ring
