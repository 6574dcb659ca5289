#!/bin/bash
#SBATCH -J h2o-opt
#SBATCH -N 1 -n 1 -c 8
#SBATCH --mem=10G
#SBATCH -t 6:00:00
export g16root=/opt/gaussian
. $g16root/g16/bsd/g16.profile
export GAUSS_SCRDIR=/scratch/$USER/$SLURM_JOB_ID
mkdir -p "$GAUSS_SCRDIR"
cat > h2o.com <<EOF
%chk=h2o.chk
%mem=8GB
%nprocshared=$SLURM_CPUS_PER_TASK
#p b3lyp/6-31g(d) opt

water

0 1
O  0.0 0.0 0.0
H  0.0 0.8 0.6
H  0.0 -0.8 0.6

EOF
g16 < h2o.com > h2o.log && formchk h2o.chk
rm -rf "${GAUSS_SCRDIR:?}"
