#!/bin/sh
date -u +%Y > raw.txt
echo "plate 7, emulsion IIa-O" >> raw.txt
