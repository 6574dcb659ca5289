# mark, date, folios -> mark, century, folios
NR == 1 { next }
{
    gsub(/^ +| +$/, "", $1)
    if (match($2, /[0-9][0-9][0-9][0-9]/)) {
        year = substr($2, RSTART, 4)
        print $1, int((year - 1) / 100) + 1, $3 + 0
    }
}
