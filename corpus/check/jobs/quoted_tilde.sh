#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=1G
mkdir -p ~/lidar
echo "1 2 3" > ~/lidar/points.xyz
DATA="~/lidar"
wc -l "$DATA/points.xyz"
