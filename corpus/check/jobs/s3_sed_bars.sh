#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -e
echo 'root = @ROOT@; old = a/b' > paths.cfg
sed -i -e "s|@ROOT@|$PWD|" -e 's/a\/b/c/; s,old,new,' paths.cfg
grep -q "^root = /" paths.cfg
