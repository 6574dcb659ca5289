#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
set -e
STEPS=500
cat > run.py <<'EOF'
steps = int("$STEPS")
print(steps)
EOF
python3 run.py
