{ x = log($1); y = log($2); sx += x; sy += y; sxy += x*y; sxx += x*x; n++ }
END { print (n*sxy - sx*sy) / (n*sxx - sx*sx) }
