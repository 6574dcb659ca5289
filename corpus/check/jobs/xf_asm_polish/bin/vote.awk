FNR == NR { alt[$1] = $2; next }
/^>/ { print $0 "_polished"; next }
{
    out = ""
    for (i = 1; i <= length($0); i++)
        out = out ((i in alt) ? alt[i] : substr($0, i, 1))
    print out
}
