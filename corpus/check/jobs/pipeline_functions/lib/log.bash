start()  { printf '[%(%F %T)T] start %s\n' -1 "$1"; }
finish() { printf '[%(%F %T)T] end %s\n' -1 "$1"; }
fail()   { echo "error: $*" >&2; exit 1; }
require() {
    local tool
    for tool; do command -v "$tool" > /dev/null || fail "$tool is not installed"; done
}
