#!/bin/bash
set -e
export HOME=$_CONDOR_SCRATCH_DIR
python3 analysis.py settings.json
