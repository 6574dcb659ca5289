#!/bin/bash
#SBATCH -n 4
#SBATCH -t 30
#SBATCH --mem=1G
for i in 1 2 3 4; do
    python3 -c "import time; time.sleep(600); open('part$i', 'w').write('x')" &
done
echo "all started"
