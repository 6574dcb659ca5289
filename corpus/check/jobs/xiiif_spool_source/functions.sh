# helpers, to be sourced
banner() {
    printf -- '---- %s ----\n' "$1"
}

require() {
    command -v "$1" > /dev/null || {
        echo "tool $1 is missing" >&2
        exit 3
    }
}

width() {
    # second moment of the profile in file $1
    awk '{ m += $2; s += $1 * $1 * $2 } END { printf "sigma2 %.3f\n", s / m }' "$1"
}
