#!/bin/bash
#SBATCH --job-name=dem_filter
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --output=dem_%j.out

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

#SBATCH --mem=24G
#SBATCH --time=06:00:00

# median filter of the 1 m elevation model; the whole grid is held in memory
gcc -O2 -o medfilt medfilt.c
./medfilt dem.hdr /project/lidar/tile_0417.flt tile_0417_filtered.flt
ls -l tile_0417_filtered.flt
