#!/bin/bash
#SBATCH --ntasks=32
#SBATCH --mem-per-cpu=1G
#SBATCH --time=10:00:00
cat > count.py <<'EOF'
total = 0
for i in range(1000):
    total += i
print(total)
EOF
python3 count.py
