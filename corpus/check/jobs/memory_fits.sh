#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=2G
# 100 MB, well within the request
python3 -c '
import array
a = array.array("d", bytes(100 * 1000 * 1000))
print(len(a) * 8 / 1e6, "MB")
'
