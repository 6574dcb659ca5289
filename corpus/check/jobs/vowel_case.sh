#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=100M
mode=fast
case $mode in
    fast echo "few samples" ;;
    slow) echo "many samples" ;;
esac
