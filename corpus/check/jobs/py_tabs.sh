#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=200M
set -e
cat > relax.py <<'EOF'
def relax(x, n):
    for i in range(n):
        x = 0.5 * (x + 2 / x)
	print(i, x)
    return x

relax(1.0, 4)
EOF
python3 relax.py
