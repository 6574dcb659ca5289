# helpers of the mesh driver; sourced

log() { printf '[%s] %s\n' "$(date +%T)" "$*" >&2; }

run_stage() {
    local name=$1 n=$2
    if [[ -e out/$name.csv ]]; then
        log "$name is up to date"
        return 0
    log "building $name with $n cells"
    seq 1 "$n" | awk -v n="$n" '{ print $1 "," $1 / n }' > "out/$name.csv"
}
