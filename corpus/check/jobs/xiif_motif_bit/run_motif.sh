#!/bin/bash
set -eu
motifs=(TATAAA CACGTG GGGCGG)
m=${motifs[$1]}
./motif_scan "$m" promoters.fa > "hits_$m.txt"
wc -l "hits_$m.txt"
