stage() {
    echo "stage $1 at $(date +%s)" >> stages.log
}
