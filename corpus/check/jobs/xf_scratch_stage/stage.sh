#!/bin/bash
#SBATCH --job-name=stage
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --time=03:00:00

STAGE_DIR=$(mktemp -d "$PWD/stage.XXXXXX")
RUN=$PWD

cp inputs/*.dat "$STAGE_DIR"/
cd "$STAGE_DIR" || exit 1

for f in *.dat; do
    awk '{ print $1, $2 * 0.0174533 }' "$f" > "${f%.dat}.rad"
done

mkdir -p "$RUN/converted"
cp *.rad "$RUN/converted/"
cd "$RUN" || exit 1
rm -rf "$STAGEDIR"/*
rmdir "$STAGE_DIR"
