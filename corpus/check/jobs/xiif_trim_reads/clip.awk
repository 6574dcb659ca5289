# cut sequence and quality to at most len letters
NR % 4 == 2 || NR % 4 == 0 { print substr($0, 1, len); next }
{ print }
