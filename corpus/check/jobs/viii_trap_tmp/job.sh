#!/usr/bin/env bash
#SBATCH -t 20 --mem=1G
set -Eeuo pipefail
scratch=$(mktemp -d "${TMPDIR:-/tmp}/idx.XXXXXX")
cleanup() {
    local rc=$?
    [[ -d $scratch ]] && rm -rf -- "$scratch"
    exit "$rc"
}
trap cleanup EXIT
trap 'exit 143' TERM INT
cp words.txt "$scratch/"
pushd "$scratch" > /dev/null
sort -u words.txt -o words.txt
split -l 2 words.txt w.
popd > /dev/null
cat "$scratch"/w.?? > sorted.txt
