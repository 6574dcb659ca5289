#!/bin/bash
#SBATCH --job-name=usage
#SBATCH --time=5
#SBATCH --mem=200M
# writes a script for later; nothing of it runs now
cat << "SCRIPT" > later.sh
#!/bin/bash
#SBATCH --time=10
cd $WORKDIR
rm -rf $OLD/tmp
./solver --input case.dat > case.log
SCRIPT
bash -n later.sh && echo "run it with: sbatch --export=ALL,WORKDIR=\$PWD,OLD=/scratch/x later.sh"
awk 'BEGIN { print "no '"'"'problem'"'"' here" }'
sed -i.bak 's/10$/20/' later.sh
grep -Fx '#SBATCH --time=20' later.sh
