#!/usr/bin/awk -f
# input: HH:MM plate
function hour(clock,   parts) { split(clock, parts, ":"); return parts[1] + 0 }
/^#/ { next }
{ n[hour($1)]++ }
END { for (h in n) if (n[h] >= limit) printf "%d\t%d\n", h, n[h] }
