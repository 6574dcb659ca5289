BEGIN { FS = ";"; OFS = "," }
FNR == 1 { next }
{
    gsub(/^ +| +$/, "", $3); gsub(/,/, ".", $4)
    split($2, d, ".")
    printf "%s-%s-%s%s%s%s%s\n", d[3], d[2], d[1], OFS, $3, OFS, sprintf("%.3f", $4 * (1 + k / 100))
}
