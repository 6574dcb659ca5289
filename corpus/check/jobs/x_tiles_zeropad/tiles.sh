#!/bin/bash
#SBATCH --job-name=tiles
#SBATCH --array=8-10%2
#SBATCH --time=00:20:00
#SBATCH --output=log/tile-%A-%a.txt
#SBATCH --mem=1G

set -eu
printf -v ID '%03d' "$SLURM_ARRAY_TASK_ID"
NEXT=$((10#$ID + 1))
IN=tiles/tile_${ID}.asc
[[ -r $IN ]] || { echo "no $IN" >&2; exit 3; }
mkdir -p done
awk 'NR > 2 { for (i = 1; i <= NF; i++) if ($i != -9999) { s += $i; n++ } } END { if (n) print s / n; else print "NA" }' "$IN" > "done/tile_$ID.ok"
echo "next would be $NEXT"
