#!/bin/bash
#SBATCH --time=10 --mem=100M
mode=fast
case $mode in
  fast) n=1 ;;
  slow) n=9 ;;
end
echo "$n"
