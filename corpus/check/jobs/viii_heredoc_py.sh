#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
n=12
python3 - "$n" <<'PY' > primes.txt
import sys

limit = int(sys.argv[1])
sieve = [True] * (limit + 1)
for i in range(2, limit + 1):
    if sieve[i]:
        print(f"{i:>3} ${i:.2f}")
        for j in range(i * i, limit + 1, i):
            sieve[j] = False
PY
cat > conf.json <<-EOF
	{"n": $n, "dollar": "\$HOME", "when": "$(date +%F)"}
	EOF
python3 -c "
import json
conf = json.load(open('conf.json'))
assert conf['dollar'] == '\$HOME', conf
"
