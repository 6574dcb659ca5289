#!/bin/sh
set -e
python3 model.py 5
