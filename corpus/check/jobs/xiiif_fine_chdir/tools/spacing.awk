{
    odd = $1 % 2 + $2 % 2 + $3 % 2
    if (lattice == "F" && odd != 0 && odd != 3) next
    if (lattice == "I" && ($1 + $2 + $3) % 2) next
    printf "%d %d %d %.5f\n", $1, $2, $3, a / sqrt($1^2 + $2^2 + $3^2)
}
