#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=1G
octave-cli --no-gui --quiet --eval "addpath('lib'); r = rms_of([3 4]); printf('%.4f\n', r); exit(r < 3)"
