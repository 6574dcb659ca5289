#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
python3 - <<'PY'
# 10**10 elements, one at a time
import itertools
total = sum(itertools.islice((i * i for i in range(10**10)), 1000))
size = 8 * 10**9  # bytes of the file that the next job writes
print(total, size)
PY
