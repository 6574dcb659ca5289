#!/bin/bash
#SBATCH --time=20
#SBATCH --mem=1G
set -e
python3 -m venv --without-pip venv
mkdir -p venv/extra
echo 'def greet(): return "hi"' > venv/extra/greeting.py
source venv/bin/activate
export PYTHONPATH=$PWD/venv/extra
python -c 'from greeting import greet; print(greet())'
deactivate
