#!/bin/bash
#SBATCH --time=10 --mem=100M
set -eu
count() {
  wc -l < "$1"
}
seq 4 > a.txt
count
