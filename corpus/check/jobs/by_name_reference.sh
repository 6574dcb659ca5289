#!/bin/bash
#SBATCH -t 0:30:00
#SBATCH --mem=400M
#SBATCH --dependency=singleton
control=(12.1 11.8 12.4)
treated=(14.9 15.3)
mean() {
    local -n values=$1
    local IFS=+
    awk "BEGIN { printf \"%.2f\\n\", (${values[*]}) / ${#values[@]} }"
}
for group in control treated; do
    echo "$group: $(mean "$group")"
done
