#!/bin/bash
#SBATCH --job-name=loadcat
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:40:00
#SBATCH --output=loadcat_%j.log

# Manuscript catalogue: clean the export and load it into the group's database
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

export PGHOST=db.humanities.example.org
export PGDATABASE=catalogue
export PGUSER=loader
export PGPASSWORD='Pergament-1422!x'

clean=$(mktemp)
trap 'rm -f "$clean"' EXIT

awk -F'\t' -v OFS='\t' -f clean.awk export/shelfmarks.tsv > "$clean"
rows=$(wc -l < "$clean")
echo "$rows rows after cleaning"

if (( rows == 0 )); then
    echo "nothing to load" >&2
    exit 1
fi

psql --quiet --set ON_ERROR_STOP=1 -f schema.sql
psql --quiet --set ON_ERROR_STOP=1 \
     -c "\\copy shelfmark (mark, century, folios) from '$clean'"
psql --tuples-only -c 'select century, count(*) from shelfmark group by 1 order by 1'
