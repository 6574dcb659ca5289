#!/usr/bin/env bash
#SBATCH --job-name=qc
#SBATCH --time=00:20:00
#SBATCH --mem=256M
set -Eeuo pipefail
shopt -s nullglob extglob
trap 'echo "failed at line $LINENO" >&2' ERR
work=$(mktemp -d "${TMPDIR:-/tmp}/qc.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
declare -A depth=([ctrl]=30 [treated]=60)
mapfile -t names < <(printf '%s\n' "${!depth[@]}" | sort)
for i in "${!names[@]}"; do
  n=${names[i]}
  (( depth[$n] > 40 )) && label=deep || label=shallow
  printf '%s\t%d\t%s\n' "${n^^}" "${depth[$n]}" "$label"
done > "$work/table.tsv"
if ! grep -q '^TREATED' "$work/table.tsv"; then
  exit 1
fi
hits=$(grep -c missing "$work/table.tsv" || true)
echo "hits: $hits, last: ${names[-1]}, rest: ${names[*]:1}"
case $hits in
  0|+(0)) ;;
  *[!0-9]*) exit 2 ;;
esac
while IFS=$'\t' read -r name d rest; do
  [[ $d =~ ^[0-9]+$ ]] || continue
  echo "${name/%ED/} $d $rest"
done < "$work/table.tsv" | tee "qc_${SLURM_JOB_ID}.txt"
