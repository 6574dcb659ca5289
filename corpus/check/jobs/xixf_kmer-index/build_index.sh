#!/bin/bash
# k-mer tables for all reads, k = 15..61   (about 5 h with 16 processes)
nproc=$1
cd "$(dirname "$0")" || exit 1
mkdir -p index
seq 15 2 61 | xargs -P "$nproc" -I{} sh -c 'python3 enumerate.py reads.fa {} > index/k{}.tsv' || exit 1
tar cf index.tar index
