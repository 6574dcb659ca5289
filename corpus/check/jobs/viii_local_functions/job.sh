#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
here=$(cd "$(dirname "${SLURM_SUBMIT_DIR:-$0}/x")" && pwd)
. "$here/lib/log.sh"
retry 3 test -d /tmp || die "no /tmp"
log INFO "done in ${SECONDS}s by ${FUNCNAME[0]:-main}"
