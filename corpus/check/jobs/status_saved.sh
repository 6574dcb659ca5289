#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
python3 -c 'import sys; sys.exit(0)'
rc=$?
echo "python ended with $rc"
cp /etc/hostname copy.txt 2>/dev/null
exit $rc
