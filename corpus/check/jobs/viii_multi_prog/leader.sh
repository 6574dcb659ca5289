#!/bin/bash
echo "leader is task $1 of ${SLURM_NTASKS}"
