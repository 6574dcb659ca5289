#!/bin/bash
#SBATCH -t 3
#SBATCH --mem=100M
awk 'BEGIN { n = split("a b c", x); for (i = 1; i <= n; i++) printf "%s{%d}\n", x[i], i }'
echo '{"unbalanced": "}}"' > weird.json
sed -n 's/.*"\([^"]*\)".*/\1/p' weird.json
echo "it's \"fine\" `# a comment in backticks` here"
