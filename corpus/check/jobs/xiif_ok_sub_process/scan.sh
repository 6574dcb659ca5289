set -eu
n=$1
step=$2
awk -v n="$n" -v step="$step" -f potential.awk < /dev/null
