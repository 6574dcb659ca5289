#!/bin/bash
#SBATCH --time=10 --mem=256M
mkdir -p "plate 1" "plate 2"
touch "plate 1/well A1.tif" "plate 2/well B7.tif"
count=0
while IFS= read -r -d '' image; do
    mv -- "$image" "${image// /_}.bak" 2>/dev/null || cp -- "$image" "$(basename "${image// /_}")"
    count=$((count + 1))
done < <(find . -name '*.tif' -print0)
echo "$count images"
[ "$count" -eq 2 ]
