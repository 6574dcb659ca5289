#!/bin/bash
#SBATCH --time=10 --mem=300M
python3 stack.py
