#!/bin/bash
set -e
sort spectrum.txt > s.txt
sort lut.txt > l.txt
join s.txt l.txt
