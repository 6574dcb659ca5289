#!/bin/bash
set -e
source /home/kchen/venvs/nlp/bin/activate
python3 readability.py "$1" > scores.txt
