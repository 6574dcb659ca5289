#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
cat > sim.py <<'EOF'
open("final.dat", "w").write("1\n")
EOF
exec python3 sim.py
mkdir -p archive
cp final.dat archive/
