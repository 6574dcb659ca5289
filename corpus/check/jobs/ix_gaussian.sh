#!/bin/bash
#SBATCH --job-name=g16_opt
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=24G
#SBATCH --time=1-00:00:00
# ---- user settings -------------------------------------------------
INPUT=benzene
export g16root=/opt/gaussian
# ---- do not change -------------------------------------------------
source $g16root/g16/bsd/g16.profile
export GAUSS_SCRDIR=/scratch/$USER/$SLURM_JOB_ID
mkdir -p $GAUSS_SCRDIR
cat > ${INPUT}.com <<EOF
%nprocshared=${SLURM_CPUS_PER_TASK}
%mem=20GB
%chk=${INPUT}.chk
#p b3lyp/6-31g(d) opt

title

0 1
C 0.0 0.0 0.0

EOF
g16 < ${INPUT}.com > ${INPUT}.log
status=$?
rm -rf $GAUSS_SCRDIR
exit $status
