{ sx += $1; sy += $2; sxy += $1*$2; sxx += $1*$1; n++ }
END { print (n*sxy - sx*sy) / (n*sxx - sx*sx) }
