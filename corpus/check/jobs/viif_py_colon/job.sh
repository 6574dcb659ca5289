#!/bin/bash
#SBATCH --time=10 --mem=300M
python3 - <<'EOF'
import math
vals = [math.sqrt(i) for i in range(10)]
for i, v in enumerate(vals)
    print(i, v)
EOF
