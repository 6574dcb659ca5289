FILENAME ~ /common/ { m = $2; next }
{ year[++n] = $1; catch_[n] = $2 }
END { for (i = 1; i <= n; i++) print year[i], catch_[i] / (1 - exp(-m)) }
