#!/bin/bash
awk -v w="$1" -v d="$2" 'BEGIN { for (t = 0; t < 10; t++) printf "%g %.4f\n", t, exp(-d * t) * cos(w * t) }'
