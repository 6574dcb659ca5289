#!/usr/bin/env bash
#SBATCH --job-name=dispatch
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:05:00

set -euo pipefail
shopt -s extglob nullglob
cd "$SLURM_SUBMIT_DIR"

usage() {
    cat <<-'EOT'
	if you read this, "done" and fi are just words
	EOT
}

classify() {
    local f=${1##*/}
    case $f in
        *.csv) echo table ;;
        (*.txt|*.md) echo "text" ;;
        !(*.*)) echo bare ;;
        *) usage; return 1 ;;
    esac
}

declare -A seen=()
for f in in/*; do
    kind=$(classify "$f")
    seen[$kind]=$(( ${seen[$kind]:-0} + 1 ))
done
for k in "${!seen[@]}"; do printf '%s=%d\n' "$k" "${seen[$k]}"; done | sort
(( ${#seen[@]} == 3 )) && echo "done" || exit 1
