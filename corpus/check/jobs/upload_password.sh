#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
tar cf results.tar /etc/hostname
export SFTP_PASSWORD='Winter-2024-kiel'
echo "upload with $USER"
