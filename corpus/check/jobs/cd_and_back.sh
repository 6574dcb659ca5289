#!/bin/bash
#SBATCH --job-name=folders
#SBATCH --time=10
#SBATCH --mem=500M
set -e
base=runs/$(date +%Y)
for case in dry wet; do
    mkdir -p "$base/$case/fig"
    pushd "$base/$case" > /dev/null
    echo "$case" > case.txt
    ( cd fig && cp ../case.txt . )
    popd > /dev/null
done
cat runs/*/dry/fig/case.txt "$base"/wet/case.txt
cd "$base" && ls -d */ | wc -l
