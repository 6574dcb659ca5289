#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=200M
if true; then
	cat <<-EOF > input.nml
	&control
	  steps = 10
	/
	EOF
fi
grep steps input.nml
