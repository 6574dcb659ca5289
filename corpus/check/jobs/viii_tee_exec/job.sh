#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
exec > >(tee -a "log_${SLURM_JOB_ID}.txt") 2>&1
exec 3< list.txt
declare -A size
while read -r -u 3 name bytes _; do
    [[ -z $name || $name == \#* ]] && continue
    size[$name]=$bytes
done
exec 3<&-
mapfile -t names < <(printf '%s\n' "${!size[@]}" | sort)
printf -v joined '%s,' "${names[@]:0:2}"
echo "${joined%,} ${#names[@]}"
IFS=: read -r first rest <<< "x:y:z"
echo "$first|$rest|${names[-1]}"
