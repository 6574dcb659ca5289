# weight by species
$1 == "species" { next }
{ weight[$1] += $3 }
END {
    for (name in weight)
        printf "%-8s %6.1f %s\n", name, weight[name], unit
}
