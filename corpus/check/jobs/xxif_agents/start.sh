#!/bin/bash
set -euo pipefail
tar xzf model.tar.gz
cd model
# the leading zeros would be octal
seed=$((10#$1))
exec python3 -m segregation "$seed" grid.ini
