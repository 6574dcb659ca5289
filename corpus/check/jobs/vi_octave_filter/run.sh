#!/bin/bash
#SBATCH --time=10:00
#SBATCH --mem=1G
octave-cli --no-gui --quiet lowpass.m
