#!/bin/bash
#SBATCH --job-name=retry
#SBATCH --time=10
#SBATCH --mem=200M
attempt() {
    local n=0 limit=3
    until "$@"; do
        (( ++n < limit )) || return 1
        sleep 0.1
    done
}
fetch_table() { printf 'a\t1\nb\t2\n' > table.tsv; }
if ! attempt fetch_table; then
    echo "no table after three tries" >&2
    exit 1
fi
while IFS=$'\t' read -r key value; do
    echo "$key=$value"
done < table.tsv
! grep -q '^c' table.tsv
