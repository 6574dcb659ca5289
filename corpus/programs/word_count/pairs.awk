# Pairs of neighbouring words.
{
    for (i = 2; i <= NF; i++)
        pairs[$(i - 1) " " $i]++
}
END {
    for (p in pairs)
        if (pairs[p] > most) {
            most = pairs[p]
            which = p
        }
    print which, most, length(pairs)
}
