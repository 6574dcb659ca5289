#!/bin/bash
set -eu
what=$1 label=$2 n=$3
test "$label" = "two words"
test "$LABEL" = "a b"
mkdir -p pkg/in
for i in 3 1 2; do echo "$i $((i * i + n))" > pkg/in/$i.txt; done
tar czf pkg.tgz pkg && rm -r pkg
tar xzf pkg.tgz
cat > run.sh <<'EOS'
#!/bin/bash
cat pkg/in/*.txt | sort -n | awk -f solver.awk
EOS
bash run.sh > answers.txt
rm -r pkg pkg.tgz run.sh
