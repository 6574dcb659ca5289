#!/bin/bash
#SBATCH -J deeptool
#SBATCH -t 02:00:00
#SBATCH --mem=16G
#SBATCH -c 4
IMAGE=deeptool_1.4.sif
if command -v apptainer > /dev/null; then RUN="apptainer exec $IMAGE"
elif command -v singularity > /dev/null; then RUN="singularity exec $IMAGE"
else RUN=""; fi
if [ -n "$RUN" ] && [ ! -f "$IMAGE" ]; then
    echo "image is built on the first run elsewhere"; RUN=""
fi
$RUN echo "tool with $SLURM_CPUS_PER_TASK threads"
