#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
if false; then
    ./old_step_that_was_deleted.sh
    rm -rf /nowhere/really
fi
: <<'COMMENT'
python3 also_deleted.py
module load nosuch/9.9
COMMENT
echo "new step"
