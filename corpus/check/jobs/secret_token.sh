#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
#SBATCH -J upload
tar cf results.tar /etc/hostname
command -v curl >/dev/null && curl -s --max-time 1 -H "Authorization: Bearer ab0123exampleONLYexample4567890" https://upload.example.org -T results.tar || true
