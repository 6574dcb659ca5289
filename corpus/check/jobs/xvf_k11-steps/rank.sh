set -eu
echo "$1 ${SLURM_PROCID:?}" > "parts/$1_$SLURM_PROCID.txt"
