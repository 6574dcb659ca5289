#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=200M
cat > outer.sh <<'OUTER'
cat > inner.py <<'INNER'
print("inner", 1 + 1)
INNER
python3 inner.py
OUTER
bash outer.sh
