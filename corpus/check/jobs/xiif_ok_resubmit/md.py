import argparse
import json
import os

p = argparse.ArgumentParser()
p.add_argument("--state", required=True)
p.add_argument("--steps", type=int, default=1000)
a = p.parse_args()

if os.path.exists(a.state):
    s = json.load(open(a.state))
else:
    s = {"t": 0.0, "x": 1.0, "v": 0.0}

dt = 0.01
for _ in range(a.steps):
    s["v"] -= dt * s["x"]
    s["x"] += dt * s["v"]
    s["t"] += dt
with open(a.state + ".tmp", "w") as fh:
    json.dump(s, fh)
os.replace(a.state + ".tmp", a.state)
print(f"t = {s['t']:.2f}  E = {0.5 * (s['x']**2 + s['v']**2):.5f}")
