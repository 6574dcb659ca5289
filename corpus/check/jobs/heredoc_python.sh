#!/bin/bash
#SBATCH --job-name=fit
#SBATCH --time=00:20:00
#SBATCH --mem=2G
#SBATCH --cpus-per-task=1
set -eu
cat > fit.py <<'EOF'
import json
import sys

def slope(points):
    n = len(points)
    sx = sum(x for x, _ in points)
    sy = sum(y for _, y in points)
    sxy = sum(x * y for x, y in points)
    sxx = sum(x * x for x, _ in points)
    return (n * sxy - sx * sy) / (n * sxx - sx * sx)

points = [(x, 2.0 * x + 1) for x in range(int(sys.argv[1]))]
json.dump({"slope": slope(points)}, open("fit.json", "w"))
EOF
python3 fit.py 50
cat fit.json
