#!/bin/sh
set -e
export PYTHONPATH=.
python3 -m dialect.isogloss answers.tsv "$1"
