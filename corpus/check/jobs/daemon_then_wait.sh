#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
cat > broker.py <<'EOF'
import time
while True:
    time.sleep(0.1)
EOF
python3 broker.py &
broker=$!
echo "the client does its work" > client.log
kill "$broker"
wait "$broker" 2>/dev/null
[ -s client.log ]
