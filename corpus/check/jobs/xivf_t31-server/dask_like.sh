#!/bin/bash
#SBATCH --job-name=srvtest
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=1G
#SBATCH --time=00:05:00

python3 server.py port.txt &
SRV=$!
trap 'kill $SRV 2>/dev/null' EXIT

tries=0
while true
do
  [ -s port.txt ] && break
  tries=$((tries + 1))
  [ $tries -gt 50 ] && { echo "no server"; exit 1; }
  sleep 0.2
done
python3 client.py "$(cat port.txt)"
