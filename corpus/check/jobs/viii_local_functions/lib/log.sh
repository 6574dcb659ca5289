# shellcheck shell=bash
log() { local level=$1; shift; printf '%(%F %T)T %-5s %s\n' -1 "$level" "$*"; }
die() { log ERROR "$@" >&2; exit 1; }
retry() {
    local n=$1 i; shift
    for ((i = 1; i <= n; i++)); do "$@" && return 0; sleep 0.$i; done
    return 1
}
