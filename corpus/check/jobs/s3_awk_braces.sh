#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -e
printf 'a{1}\nb{22}\nc\n' | awk '
    /[{][0-9]+[}]/ { split($0, parts, /[{}]/); n[parts[1]] = parts[2] }
    END { for (name in n) if (n[name] > 9) print name, "{" n[name] "}" }
'
