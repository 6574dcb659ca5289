#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=16
#SBATCH --mem=30G --time=6:00:00
module load gcc/12.2.0 openmpi/4.1.5
export OMP_NUM_THREADS=1
for a in $(LC_ALL=C seq 10.0 0.1 10.4); do
    cat > "si_$a.in" <<-EOF
	&control
	  calculation = 'scf', prefix = 'si_$a'
	/
	&system
	  ibrav = 2, celldm(1) = $a, nat = 2, ntyp = 1
	/
	EOF
    mpirun -np "$SLURM_NTASKS" pw.x -in "si_$a.in" > "si_$a.out"
done
