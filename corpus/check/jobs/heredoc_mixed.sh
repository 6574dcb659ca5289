#!/bin/bash
#SBATCH -J mixed -t 10 --mem=500M
set -eu
outdir=$SLURM_SUBMIT_DIR/out.$SLURM_JOB_ID
mkdir -p "$outdir"

# written now, expanded later by the inner script
cat > "$outdir/inner.sh" <<'EOF'
#!/bin/bash
here=$(dirname "$0")
for name in "$@"; do
    echo "$name from $here"
done
EOF
chmod +x "$outdir/inner.sh"
"$outdir/inner.sh" a b c > "$outdir/list.txt"

python3 - "$outdir/list.txt" <<PY
import sys
limit = $(( 2 + 3 ))
lines = open(sys.argv[1]).read().splitlines()
assert len(lines) < limit, f"too many: {len(lines)}"
print(len(lines), "lines", "\$HOME stays as it is")
PY
