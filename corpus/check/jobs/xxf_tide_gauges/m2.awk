# amplitude and phase of M2 (12.4206 h) by projection
BEGIN { w = 2 * 3.14159265 / 12.4206 }
/^#/ { next }
{ c += $2 * cos(w * $1); s += $2 * sin(w * $1); n++ }
END { printf "%s %.4f %.1f\n", FILENAME, 2 * sqrt(c*c + s*s) / n, atan2(s, c) * 57.29578 }
