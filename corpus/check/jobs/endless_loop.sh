#!/bin/bash
#SBATCH -t 1-00:00:00
#SBATCH --mem=1G
#SBATCH -J watch
while true; do
    date >> heartbeat.txt
    sleep 1
done
