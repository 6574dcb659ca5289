#!/bin/bash
# wrapper: prepare the scratch area, score, report
set -e
lig=$1
if [ ! -r "$lig" ]; then
    echo "no ligand $lig" >&2
    exit 3
fi
export LC_ALL=C
natoms=$(grep -c '^ATOM' "$lig" || true)
echo "ligand $lig with $natoms atoms on $(hostname)"
./score.pl receptor.txt "$lig"
echo "finished $(date -u +%FT%TZ)"
