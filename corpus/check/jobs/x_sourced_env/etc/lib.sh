# helper functions, meant to be sourced
log() { echo "[$(date +%T)] $*"; }
ensure_dir() { [ -d "$1" ] || mkdir -p -- "$1"; }
