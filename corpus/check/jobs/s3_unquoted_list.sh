#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
flags="-n -r"
printf '3\n10\n2\n' | sort $flags > sorted.txt
for word in $(cat sorted.txt); do echo "value $word"; done
set -- a b c
while [ $# -gt 0 ]; do echo "$1"; shift; done
