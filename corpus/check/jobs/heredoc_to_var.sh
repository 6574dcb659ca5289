#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
read -r -d '' QUERY <<'SQL' || true
SELECT name FROM runs WHERE status = 'done' ORDER BY "time";
SQL
[ -n "$QUERY" ] && echo "${#QUERY}"
