#!/bin/bash
set -e
g++ -O2 -o align align.cpp
./align en.txt fr.txt > lex.txt
head -n 5 lex.txt
