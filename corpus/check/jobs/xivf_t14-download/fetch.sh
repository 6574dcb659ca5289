#!/bin/bash
#SBATCH --job-name=fetch
#SBATCH --partition=transfer
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --time=06:00:00

# list of accessions comes from the collaborator
mkdir -p raw
PORTAL_USER=mkowalski
PORTAL_PASSWORD='Zq7!tulip-Harbor91'

while read -r acc
do
  curl -fsS -u "$PORTAL_USER:$PORTAL_PASSWORD" -o "raw/$acc.tar" "https://portal.seqbank.example/dl/$acc" || exit 1
done < accessions.txt
