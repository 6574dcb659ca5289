#!/bin/sh
set -e
cat fold_0.json fold_1.json
