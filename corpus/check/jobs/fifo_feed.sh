#!/bin/bash
#SBATCH --job-name=fifo
#SBATCH --time=5
#SBATCH --mem=200M
pipe=$(mktemp -u "${TMPDIR:-/tmp}/feed.XXXX")
mkfifo "$pipe" && trap 'rm -f "$pipe"' EXIT
gzip -c <<< "one two three" > "$pipe" &
zcat < "$pipe" | tr ' ' '\n' | while read -r word; do
    [[ $word == t* ]] && echo "$word"
    true
done
wait
