#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
python3 -m http.server 8123 --bind 127.0.0.1 > /dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
for attempt in $(seq 50); do
    if python3 -c 'import urllib.request as u; u.urlopen("http://127.0.0.1:8123/")' 2> /dev/null; then
        echo "served after $attempt"
        break
    fi
    sleep 0.1
done
