#!/bin/bash
#SBATCH --time=10 --mem=300M
threshold=0.5
python3 -c "
import json
scores = {'a': 0.7, 'b': 0.2}
kept = {k: v for k, v in scores.items() if v > $threshold}
print(json.dumps(kept))
" > kept.json
grep -q '"a"' kept.json && ! grep -q '"b"' kept.json
