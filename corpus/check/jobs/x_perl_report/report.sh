#!/bin/sh
#SBATCH --job-name=usage
#SBATCH --time=00:05:00
#SBATCH --mem=200M

# POSIX shell on purpose
set -eu
gunzip -c acct.txt.gz 2>/dev/null > acct.txt || cp acct.plain acct.txt
sort -t'|' -k2,2 acct.txt | perl report.pl > report.txt
perl -ne 'print "$1\n" if /^Total\s+(\d+)/' report.txt
