#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
write_input() {
    cat > min.in <<EOF
minimize
steps 500
    EOF
}
write_input
grep steps min.in
