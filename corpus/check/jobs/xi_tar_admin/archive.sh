#!/bin/bash
#SBATCH --job-name=archive
#SBATCH --time=00:20:00
#SBATCH --mem=200M
set -uo pipefail
DEST=${ARCHIVE_DIR:-arc}
mkdir -p "$DEST" || exit 1
name=logs-$(date +%Y%m).tar.gz
rc=0
tar -C old -czf "$DEST/$name" . || rc=$?
if (( rc > 1 )); then
    echo "tar failed with $rc" >&2
    exit "$rc"
fi
tar -tzf "$DEST/$name" | sort > "$DEST/list.txt" || exit 1
if [[ -s $DEST/list.txt ]]; then
    while IFS= read -r f; do
        [[ -f old/$f ]] && rm -- "old/$f"
    done < "$DEST/list.txt"
fi
exit 0
