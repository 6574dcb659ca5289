# group environment, sourced by all jobs    (last change: K. 2023-10-02)
umask 027
module purge
module load gcc/12.2.0
export CC=gcc CXX=g++ FC=gfortran
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export OPENBLAS_NUM_THREADS=$OMP_NUM_THREADS
export LC_ALL=C.UTF-8
