import json
import sys

with open(sys.argv[1]) as handle:
    config = json.load(handle)

x = config["start"]
for _ in range(config["nsteps"]):
    x = config["r"] * x * (1 - x)
print(x)
