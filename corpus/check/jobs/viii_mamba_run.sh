#!/bin/bash
#SBATCH --time=3:00:00
#SBATCH --mem=10G
source /opt/miniforge3/etc/profile.d/conda.sh
source /opt/miniforge3/etc/profile.d/mamba.sh
mamba activate qiime2
qiime demux summarize --i-data demux.qza --o-visualization demux.qzv
conda run -n plots --no-capture-output python - <<'EOF'
import matplotlib
matplotlib.use("Agg")
EOF
