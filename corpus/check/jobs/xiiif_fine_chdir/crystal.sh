#!/bin/bash
#SBATCH --job-name=powder
#SBATCH --chdir=casework
#SBATCH --ntasks=1
#SBATCH --mem=300M
#SBATCH --time=00:05:00
#SBATCH --output=powder_%j.out

# d-spacings of a cubic cell and comparison with the measured lines
set -euo pipefail
source ./cell.conf

hkl() {
    for h in 0 1 2 3; do
        for ((k = 0; k <= h; k++)); do
            for ((l = 0; l <= k; l++)); do
                (( h + k + l == 0 )) || echo "$h $k $l"
            done
        done
    done
}

hkl | awk -v a="$CELL_A" -v lattice="$LATTICE" -f ../tools/spacing.awk | sort -k4,4nr > lines.txt

while read -r two_theta intensity; do
    [[ -z $two_theta || $two_theta == \#* ]] && continue
    awk -v tt="$two_theta" -v lam="$LAMBDA" -v I="$intensity" '
        BEGIN { d = lam / (2 * sin(tt * 3.14159265 / 360)); best = 9 }
        { e = $4 - d; if (e < 0) e = -e; if (e < best) { best = e; id = $1 $2 $3; calc = $4 } }
        END { printf "%7.3f %5d  d %.4f  %s (%.4f)\n", tt, I, d, id, calc }' lines.txt
done < measured.xy > indexed.txt
cat indexed.txt
