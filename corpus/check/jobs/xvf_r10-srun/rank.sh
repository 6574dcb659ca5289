set -eu
r=${SLURM_PROCID:?}
awk -v r="$r" 'BEGIN { for (i = 0; i < 5; i++) print r * 5 + i, r }' > "parts/rank_$r.txt"
