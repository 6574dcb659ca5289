#!/bin/bash
set -e
cat > a.sh <<< $'#!/bin/bash\nhostname'
jid=$(sbatch --time=10 --mem=1G a.sh)
sbatch --time=10 --mem=1G --dependency=afterok:$jid a.sh
