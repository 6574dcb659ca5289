#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
perl -ne 'print if /^@/ .. /^\+/' r.fq > heads.txt
perl report.pl --min=2 r.fq
