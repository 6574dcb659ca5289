#SBATCH --job-name=noline
#SBATCH --time=10
#SBATCH --mem=300M
date > stamp.txt
