#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=500M
port=$((20000 + SLURM_JOB_ID % 10000))
python3 -m http.server "$port" --bind 127.0.0.1 > server.log 2>&1 &
server=$!
trap 'kill $server' EXIT
for _ in {1..50}; do
    python3 - "$port" <<'EOF' && break
import sys
import urllib.request
try:
    urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/tiles.txt", timeout=2)
except OSError:
    sys.exit(1)
EOF
    sleep 0.2
done
python3 -c "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read())" "http://127.0.0.1:$port/tiles.txt"
