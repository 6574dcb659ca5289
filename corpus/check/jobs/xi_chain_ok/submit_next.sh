#!/bin/bash
#SBATCH --job-name=stage_a
#SBATCH --time=00:05:00
#SBATCH --mem=100M
set -euo pipefail
mkdir -p stage
cat > stage/b.sh <<'EOF'
#!/bin/bash
#SBATCH --time=00:05:00
set -eu
awk '{ s += $1 } END { print s }' numbers.txt > "sum_${SLURM_JOB_ID}.txt"
EOF
seq 10 > stage/numbers.txt
jid=$(sbatch --parsable --chdir="$PWD/stage" --dependency=afterok:"$SLURM_JOB_ID" stage/b.sh)
jid=${jid%%;*}
sbatch --dependency=afterany:"$jid" --time=1 --wrap="ls -l $PWD/stage"
if [[ ${LOOP:-0} -gt 0 ]]; then
    LOOP=$((LOOP - 1)) sbatch --export=ALL submit_next.sh
fi
