log() { printf '%s\n' "$*"; }
