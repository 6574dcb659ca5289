# Morse potential on the n-th stretch of the axis
BEGIN {
    D = 4.75; a = 1.94; re = 0.741
    for (k = 0; k < step; k++) {
        r = 0.4 + (n * step + k) * 0.002
        e = 1 - exp(-a * (r - re))
        printf "%.4f %.6f\n", r, D * e * e
    }
}
