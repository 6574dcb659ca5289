#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=100M
set -e
if ! cmp -s /etc/passwd /etc/group; then
    echo "differ"
fi
false || echo "handled"
! grep -q 'no such user' /etc/passwd
test -d /tmp && [[ 5 -gt 3 ]] && echo yes
