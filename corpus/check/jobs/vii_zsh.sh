#!/usr/bin/env zsh
#SBATCH --time=10 --mem=500M
setopt extended_glob null_glob
typeset -A n
for f in *.(dat|txt)(.N); do (( n[${f:e}]++ )); done
for k v in ${(kv)n}; do print -r -- "$k $v"; done
print -l ${(o)path} | head -3
