#!/usr/bin/env bash
set -euo pipefail
printf 'stage %s at %s\n' "$1" "$(date -u +%FT%TZ)"
