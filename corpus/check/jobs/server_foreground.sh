#!/bin/bash
#SBATCH -t 8:00:00
#SBATCH --mem=2G
#SBATCH -J results
mkdir -p www
echo ok > www/index.html
python3 -m http.server --bind 127.0.0.1 --directory www 18743
