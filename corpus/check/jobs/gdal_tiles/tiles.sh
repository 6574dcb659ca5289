#!/bin/bash
#SBATCH --array=0-2
#SBATCH -t 90
#SBATCH --mem=6000
#SBATCH -o tile_%a.log
module load gdal/3.6
tiles=( dem/*.asc )
tile=${tiles[$SLURM_ARRAY_TASK_ID]}
base=$(basename "$tile" .asc)
gdalwarp -t_srs EPSG:25832 "$tile" "warped_${base}.tif"
gdal_translate -of PNG "warped_${base}.tif" "${base}.png"
