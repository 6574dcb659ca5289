#!/bin/bash
#SBATCH --time=10 --mem=1G
set -e
go run main.go
