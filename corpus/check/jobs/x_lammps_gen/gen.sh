#!/bin/bash
#SBATCH --job-name=thermo --ntasks=1
#SBATCH --time=00:10:00 --mem=500M
set -euo pipefail

mkdir -p out
cat > driver.py <<'PY'
import sys
cfg = dict(line.split() for line in open(sys.argv[1]) if line.strip())
t, n = float(cfg["temp"]), int(cfg["steps"])
with open("thermo.txt", "w") as fh:
    for i in range(0, n + 1, 50):
        fh.write("%d T %g\n" % (i, t))
PY

for T in 300 350; do
    d=out/run_$T
    mkdir -p "$d"
    cat > "$d/in.cfg" <<EOF
temp $T
steps $((T / 3))
EOF
    cat > "$d/go.sh" <<EOF
#!/bin/bash
here=\$(dirname "\$(readlink -f "\$0")")
cd "\$here"
python3 ../../driver.py in.cfg
EOF
    chmod u+x "$d/go.sh"
    "./$d/go.sh"
done
