#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
cat > outer.sh <<'OUTER'
#!/bin/bash
n=${1:?need n}
cat > inner.py <<INNER
import sys
for i in range($n):
    sys.stdout.write(f"{i} ")
print('${n}' + "\$x")
INNER
python3 inner.py
OUTER
chmod u+x outer.sh
./outer.sh 3
bash outer.sh 2 | tee last.txt
: "${LAST:=$(<last.txt)}"; printf '%q\n' "$LAST"
EOF=5; echo $((EOF<<1))
