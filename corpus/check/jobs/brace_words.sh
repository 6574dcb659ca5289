#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=64M
echo if then fi done esac
echo "}" '{' \( done
rm -rf build.{debug,release} ./-odd-name "$HOME/.cache/${SLURM_JOB_NAME:-none}"
[ ! -d build.debug ] || exit 9
x='for' y="$(echo ")")"; echo "$x$y" # ) "
test "$y" = ')'
