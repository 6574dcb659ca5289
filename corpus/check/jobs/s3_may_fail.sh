#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
status=0
grep -c nothing /etc/hostname > count.txt || status=$?
if [ "$status" -gt 1 ]; then exit "$status"; fi
diff <(seq 3) <(seq 4) > changes.txt || true
timeout 1 sleep 0.2 || echo "too slow"
if ! ls /no/such/place 2> /dev/null; then echo "no archive, as expected"; fi
cat count.txt
