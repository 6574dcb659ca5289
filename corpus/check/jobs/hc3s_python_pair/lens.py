#!/usr/bin/env python3
import sys
import optics
with open("focus.txt", "w") as out:
    out.write(f"{optics.focus(float(sys.argv[1]))} {sys.argv[3]}\n")
