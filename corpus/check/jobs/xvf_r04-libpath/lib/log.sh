log() {
    printf '%s %s\n' "$(date -u +%FT%TZ)" "$*"
}
