#!/bin/bash
src=${1:-src}
inotifywait -m -r -e close_write,moved_to "$src" |
    while read -r dir event file; do
        case $file in
            *.c | *.h) make -s && echo "built after $dir$file ($event)" ;;
        esac
    done
