#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=100M
# the instrument wants DOS line ends in its command file
cat > instrument.cmd <<'EOF'
OPEN 1
READ 200
CLOSE
EOF
tr -d '\r' < instrument.cmd | wc -l
