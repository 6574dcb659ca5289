#!/bin/bash
# the plotter wants DOS line ends in its command file
cat > plot.cmd <<'EOF'
PEN 1
DRAW 10 10
EOF
test "$(tr -dc '\r' < plot.cmd | wc -c)" -eq 2
