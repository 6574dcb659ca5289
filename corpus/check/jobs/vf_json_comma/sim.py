import json
import sys

with open(sys.argv[1]) as f:
    cfg = json.load(f)
print(cfg["steps"] * cfg["dt"])
