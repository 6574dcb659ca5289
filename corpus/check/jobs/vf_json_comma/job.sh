#!/bin/bash
#SBATCH --time=5 --mem=300M
python3 sim.py cfg/run.json
