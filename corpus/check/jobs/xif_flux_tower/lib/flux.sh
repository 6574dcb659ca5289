daily_mean() {
    awk -F, 'NR > 1 && $2 != "NA" { s[$1] += $2; n[$1]++ } END { for (d in s) printf "%s %.2f\n", d, s[d] / n[d] }' "$1" | sort
}
gapfill() {
    awk '{ print; last = $2 }' "$1"
}
