# Recode occupations of the census samples to HISCO majors
# usage: recode.sh YEAR
set -eu
year=$1
in=census_${year}.csv
out=recoded_${year}.csv

awk -F, -v OFS=, '
    NR == 1 { print $0, "hisco"; next }
    {
        h = 9
        if ($3 ~ /farm|peasant/)       h = 6
        else if ($3 ~ /teach|priest/)  h = 1
        else if ($3 ~ /clerk/)         h = 3
        print $0, h
    }' "$in" > "$out"

n=$(tail -n +2 "$out" | wc -l)
echo "$year: $n persons recoded"
