#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=2G
#SBATCH --cpus-per-task=3
for lake in como garda iseo; do
    python3 -c "import time; time.sleep(2); print('$lake')" &
done
echo "started all lakes"
