# functions for all jobs; sourced, never run
: "${VERBOSE:=0}"
usage() { echo "usage: ${0##*/} [-n COUNT] [-v] NAME" >&2; return 64; }

main() {
    local OPTIND=1 opt count=1
    while getopts ':n:v' opt; do
        case $opt in
            n) count=$OPTARG ;;
            v) VERBOSE=1 ;;
            *) usage; return ;;
        esac
    done
    shift $((OPTIND - 1))
    [[ $# -eq 1 ]] || { usage; return; }
    for ((i = 0; i < count; i++)); do
        ((VERBOSE)) && echo "round $i of $1"
    done
    return 0
}
