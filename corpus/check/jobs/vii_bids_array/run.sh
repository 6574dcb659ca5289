#!/bin/bash
#SBATCH --array=1-2
#SBATCH --mem=500M
#SBATCH --time=15
set -euo pipefail
shopt -s globstar
subjects=(bids/sub-*)
sub=${subjects[SLURM_ARRAY_TASK_ID - 1]##*/}
out=derivatives/$sub
mkdir -p "$out"
for json in bids/"$sub"/**/*.json; do
  base=$(basename "$json" .json)
  python3 - "$json" "$out/$base.tsv" <<-'PY'
	import json, sys
	src, dst = sys.argv[1:3]
	with open(src) as f, open(dst, "w") as g:
	    for k, v in sorted(json.load(f).items()):
	        print(k, v, sep="\t", file=g)
	PY
done
