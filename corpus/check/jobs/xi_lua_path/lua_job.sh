#!/bin/bash
#SBATCH --job-name=luastat
#SBATCH --time=00:02:00
#SBATCH --mem=100M
export LUA_PATH="$PWD/modules/?.lua;$PWD/modules/?/init.lua;;"
cd data || exit 1
lua ../stat.lua *.num > ../out.txt
