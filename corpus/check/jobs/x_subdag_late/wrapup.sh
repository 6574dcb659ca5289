#!/bin/bash
shopt -s nullglob
f=(task_*.txt)
echo "tasks: ${#f[@]}"
(( ${#f[@]} )) && cat "${f[@]}"
exit 0
