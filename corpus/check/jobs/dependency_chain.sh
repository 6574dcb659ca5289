#!/bin/bash
#SBATCH -J first
#SBATCH -t 5
#SBATCH --mem=300M
set -e
cat > second.sh <<'EOF'
#!/bin/bash
#SBATCH -J second
#SBATCH -t 5
#SBATCH --mem=300M
echo "second after $1"
EOF
echo done > first.flag
next=$(sbatch --parsable --dependency=afterok:$SLURM_JOB_ID second.sh $SLURM_JOB_ID)
echo "queued $next"
