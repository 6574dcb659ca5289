#!/usr/bin/awk -f
# bounding box in km of one animal: x y per line
NR == 1 { x0 = x1 = $1; y0 = y1 = $2 }
{
    if ($1 < x0) x0 = $1
    if ($1 > x1) x1 = $1
    if ($2 < y0) y0 = $2
    if ($2 > y1) y1 = $2
}
END {
    if (NR == 0) exit 1
    printf "%s fixes %d box %.2f km2\n", FILENAME, NR, (x1 - x0) * (y1 - y0)
}
