#!/bin/bash
#SBATCH --mem=200M
#SBATCH -t 4
join <(printf '1 a\n2 b\n') <(printf '1 x\n2 y\n') > joined.txt
diff <(cut -d' ' -f1 joined.txt) <(seq 2)
mapfile -t rows < joined.txt
echo "${#rows[@]} rows; last: ${rows[-1]}"
