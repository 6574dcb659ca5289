#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=2
#SBATCH --time=3:00:00
#SBATCH --mem=4G
python3 -c 'import time; time.sleep(600); print("north")' > north.txt &
python3 -c 'import time; time.sleep(600); print("south")' > south.txt &
( wait )
echo done
