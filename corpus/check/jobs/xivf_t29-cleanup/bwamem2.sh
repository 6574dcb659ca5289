#!/bin/bash
#SBATCH --job-name=sortdemo
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=2:00:00

WORK=$(mktemp -d "${TMPDIR:-/tmp}/srt.XXXXXX") || exit 1
cleanup() { rm -rf "${WORK:?}/"; }
trap cleanup EXIT

sort --parallel=4 -S 2G -T "$WORK" -k1,1 -k2,2n peaks.bed > peaks.sorted.bed
rm -rf "${WORK:?}"/*
wc -l < peaks.sorted.bed
