import json
import sys

runs = json.load(open(sys.argv[1]))
best = min(runs, key=lambda run: run["loss"])
print(f"best run {best["id"]} with loss {best["loss"]:.3f}")
