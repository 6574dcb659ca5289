#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
tries=0
while :; do
    case $(( ++tries )) in
        [123]) sleep 0.1 ;;
        *) break ;;
    esac
done
until ((tries-- <= 0)); do :; done
while IFS= read -r -t 1 line || [[ -n $line ]]; do
    echo "got $line"
done < <(printf 'a\nb')
