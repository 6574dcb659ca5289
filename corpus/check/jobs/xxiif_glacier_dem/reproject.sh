#!/bin/bash
#----------------------------------------------------------
# Reproject the yearly DEMs of the glacier to UTM 33N
#----------------------------------------------------------
#SBATCH --job-name=dem-warp
#SBATCH --partition=main
#SBATCH --array=2010-2019
#SBATCH --cpus-per-task=2
#SBATCH --mem=6G
#SBATCH --time=01:30:00
#SBATCH --output=logs/warp_%a.out
#SBATCH --error=logs/warp_%a.err

set -euo pipefail
mkdir -p logs utm
module load gdal/3.6

YEAR=$SLURM_ARRAY_TASK_ID
SRC=/project/cryo/dem/wgs84/dem_${YEAR}.tif
gdalwarp -t_srs EPSG:32633 -tr 10 10 -r bilinear -multi \
    -wo NUM_THREADS="$SLURM_CPUS_PER_TASK" \
    -co COMPRESS=DEFLATE "$SRC" "utm/dem_${YEAR}_utm33.tif"
gdalinfo -stats "utm/dem_${YEAR}_utm33.tif" > "utm/dem_${YEAR}.info"
