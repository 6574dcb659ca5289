#!/usr/bin/env python3
import json

with open("grid.json") as fh:
    g = json.load(fh)
for i in range(g["n"]):
    print(i, g["start"] + i * g["step"])
