/^>/ { name = substr($0, 2); next }
FNR == NR { Q[name] = Q[name] $0; next }
{ D[name] = D[name] $0 }
END {
    for (a in Q) for (b in D) {
        s = 0
        for (i = 1; i + 1 <= length(Q[a]); i++) if (index(D[b], substr(Q[a], i, 2))) s++
        print a, b, s
    }
}
