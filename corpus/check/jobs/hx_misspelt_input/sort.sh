#!/bin/sh
sort -k2,2n abundance.tsv
