#!/bin/bash
#SBATCH -J morse_scan
#SBATCH -p short
#SBATCH -n 1
#SBATCH --mem=1500M
#SBATCH -t 50
#SBATCH -o scan_%j.out

set -euo pipefail

WORK=$(mktemp -d "${TMPDIR:-/tmp}/scan.XXXXXX")
cleanup() {
    local rc=$?
    rm -rf "${WORK:?}"/
    exit "$rc"
}
trap cleanup EXIT

cp "$SLURM_SUBMIT_DIR"/{morse.f90,scan.list} "$WORK"/
cd "$WORK"
gfortran -O2 -fcheck=all -o morse morse.f90

: > energies.dat
while read -r r; do
    # the namelist of this point is written here, it is not in the folder
    cat > point.nml <<EOF
&point
  r = $r
  de = 4.75
  a = 1.94
  re = 0.741
/
EOF
    ./morse < point.nml >> energies.dat
done < scan.list

cp energies.dat "$SLURM_SUBMIT_DIR/energies_${SLURM_JOB_ID}.dat"
