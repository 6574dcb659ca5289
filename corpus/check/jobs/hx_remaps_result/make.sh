#!/bin/sh
seq 10 > spectrum.txt
