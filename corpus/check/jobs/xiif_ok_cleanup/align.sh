#!/bin/bash
#SBATCH --job-name=nwalign
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:15:00
#SBATCH --output=nwalign_%j.log

here=$PWD
TMP=$(mktemp -d "${TMPDIR:-/tmp}/nw.XXXXXX") || exit 1
trap 'rm -rf "${TMP:?}"/' EXIT

cp pairs.tsv nw.awk "$TMP"/ || exit 1
cd "$TMP" || exit 1
awk -f nw.awk pairs.tsv > scores.tsv || exit 1
rm -rf "${TMP:?not set}"/*.awk
mv scores.tsv "$here/scores.tsv"
