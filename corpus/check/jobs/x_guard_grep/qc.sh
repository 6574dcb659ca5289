#!/bin/bash
#SBATCH --job-name=qc
#SBATCH --time=5
set -Eeuo pipefail
trap 'echo "failed at line $LINENO" >&2' ERR

mkdir -p qc
declare -A nfail=()
for f in raw/*.log; do
    n=$(grep -c '^FAIL' "$f" || true)
    nfail[$(basename "$f")]=$n
done

if ! diff -q <(sort raw/a.log) <(sort raw/b.log) > /dev/null; then
    echo "a and b differ" >> qc/notes.txt
fi

worst=0
for k in "${!nfail[@]}"; do
    (( nfail[$k] > worst )) && worst=${nfail[$k]}
    echo "$k ${nfail[$k]}"
done | sort > qc/summary.txt
[ -f raw/optional.log ] && cat raw/optional.log >> qc/summary.txt
(( worst++ )) || :
echo "ok $worst"
