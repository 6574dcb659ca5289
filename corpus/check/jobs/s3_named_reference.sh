#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -eu
push() {
    local -n target=$1
    target+=("$2")
}
declare -a masses=()
push masses 1.5
push masses 2.5
printf '%s\n' "${masses[@]}"
