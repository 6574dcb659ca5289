#!/bin/bash
#SBATCH -J eos
#SBATCH -N 1 --ntasks-per-node=16
#SBATCH -t 20:00:00
#SBATCH --mem=60G
module load gcc/12.2.0 openmpi/4.1.5
for a in 3.8 3.9 4.0 4.1; do
  mkdir -p a_$a; cd a_$a || exit 1
  cp /home/shared/vasp/{INCAR,KPOINTS,POTCAR} .
  cat > POSCAR << !
fcc Al
$a
 0.5 0.5 0.0
 0.0 0.5 0.5
 0.5 0.0 0.5
1
direct
0 0 0
!
  mpirun -np $SLURM_NTASKS /opt/vasp/bin/vasp_std > vasp.out
  E=$(awk '/F=/ {print $0}' OSZICAR | tail -1)
  echo "$a $E" >> ../SUMMARY
  cd ..
done
