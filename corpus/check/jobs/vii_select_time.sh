#!/bin/bash
#SBATCH --time=5 --mem=100M
t0=$SECONDS
exec 3>&1 4> >(sed 's/^/err: /' >&3)
{ echo one; echo two >&4; } | while read -r l; do echo "got $l"; done
exec 4>&-
printf -v stamp '%(%Y-%m-%d)T' -1
[[ $stamp =~ ^([0-9]{4})-([0-9]{2}) ]] && y=${BASH_REMATCH[1]}
echo "${y:+year known} $(( SECONDS - t0 < 60 ? 1 : 0 ))"
let 'a = 3 * 4' b=a-2
f() { local -r k=$1; shift; (( $# )) && f "$@"; echo -n "$k"; }
f 1 2 3; echo
arr=(${y/0/} "x y"); unset 'arr[0]'
time { sleep 0.1 & wait $!; }
exit 0
