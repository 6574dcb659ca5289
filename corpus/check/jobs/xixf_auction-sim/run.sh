set -eu
format=$1 bidders=$2 note=${3:-}
echo "# $note"
for seed in 1 2 3 4 5; do
    awk -v fmt="$format" -v n="$bidders" -v seed="$seed" -f auction.awk < /dev/null
done
