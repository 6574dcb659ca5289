#!/bin/bash
#SBATCH --ntasks=8 --mem-per-cpu=1G --time=2:00:00
module load lammps/2023
for T in 0.5 1.0 1.5; do
  d=T_$T
  mkdir -p $d && cd $d || exit 1
  cat > in.lj <<LMP
units lj
variable t equal $T
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create \${t} 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nvt temp \$t \$t 0.5
thermo 100
run 1000
LMP
  srun lmp -in in.lj -log log.lj
  cd ..
done
grep -h '^Loop' T_*/log.lj
