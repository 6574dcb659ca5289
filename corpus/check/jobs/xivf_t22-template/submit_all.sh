#!/bin/bash
#SBATCH --job-name=master
#SBATCH --ntasks=1
#SBATCH --mem=500M
#SBATCH --time=00:10:00

mkdir -p jobs res
for T in 280 300 320
do
cat > jobs/T$T.sh <<END
#!/bin/bash
#SBATCH --job-name=T$T
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=01:00:00
#SBATCH --output=res/T$T.log
awk -v T=$T 'BEGIN { print exp(-1200 / (8.314 * T)) }' > res/T$T.dat
END
sbatch jobs/T$T.sh
sleep 1
done
