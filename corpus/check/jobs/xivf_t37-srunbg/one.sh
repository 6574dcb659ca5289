# called by bash, so it needs neither a bit nor a shebang
n=$1
s=0
for k in $(seq 1 100); do s=$(( (s * 31 + k * n) % 1009 )); done
echo "$n $s"
