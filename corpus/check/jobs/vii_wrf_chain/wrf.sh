#!/bin/bash
#SBATCH -J wrf
#SBATCH -N 2
#SBATCH --ntasks-per-node=16
#SBATCH -t 08:00:00
#SBATCH --mem-per-cpu=1800M
#SBATCH --mail-type=END,FAIL,TIME_LIMIT_80
#SBATCH --mail-user=meteo@example.org
module purge
module load gcc/12.2.0 openmpi/4.1.5 hdf5/1.14.1
start=2024-01-31
end=$(date -d "$start + 2 days" +%F)
sed -e "s/%START%/${start}/" -e "s/%END%/$end/" namelist.tmpl > namelist.input
ln -sf /opt/wrf/run/*.TBL .
mpirun --bind-to core -np $SLURM_NTASKS /opt/wrf/main/real.exe || { tail rsl.error.0000; exit 1; }
mpirun -np $SLURM_NTASKS /opt/wrf/main/wrf.exe
grep -q 'SUCCESS COMPLETE WRF' rsl.out.0000
