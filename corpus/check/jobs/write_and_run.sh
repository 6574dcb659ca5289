#!/bin/bash
#SBATCH -t 20
#SBATCH -J gen
#SBATCH --mem=500M
set -e
for L in 8 16 32; do
    cat > run_$L.sh <<EOF
#!/bin/bash
echo "L=$L seed=\$1"
EOF
    chmod +x run_$L.sh
    ./run_$L.sh 42
done
