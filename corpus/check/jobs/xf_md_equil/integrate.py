import argparse
import json
import math
import pickle
import time

ap = argparse.ArgumentParser()
ap.add_argument("--config", required=True)
ap.add_argument("--max-hours", type=float, required=True)
ap.add_argument("--checkpoint", required=True)
args = ap.parse_args()

cfg = json.load(open(args.config))
x, v = cfg["x0"], cfg["v0"]
stop = time.time() + args.max_hours * 3600
n = 0
while time.time() < stop:
    for _ in range(cfg["inner"]):
        v -= math.sin(x) * cfg["dt"]
        x += v * cfg["dt"]
    n += cfg["inner"]

with open(args.checkpoint, "wb") as fh:
    pickle.dump({"x": x, "v": v, "steps": n}, fh)
