import argparse
import csv
import json
import os
import signal
import sys

stop = False


def on_term(signum, frame):
    global stop
    stop = True


signal.signal(signal.SIGTERM, on_term)
ap = argparse.ArgumentParser()
ap.add_argument("--data")
ap.add_argument("--state")
ap.add_argument("--epochs", type=int)
a = ap.parse_args()

with open(a.data, newline="") as fh:
    rows = [tuple(map(float, r)) for r in csv.reader(fh)]
state = {"epoch": 0, "w": [0.0, 0.0, 0.0]}
if os.path.exists(a.state):
    with open(a.state) as fh:
        state = json.load(fh)


def save():
    tmp = a.state + ".tmp"
    with open(tmp, "w") as fh:
        json.dump(state, fh)
    os.replace(tmp, a.state)


while state["epoch"] < a.epochs and not stop:
    w = state["w"]
    for x, y, label in rows:
        err = label - (w[0] + w[1] * x + w[2] * y > 0)
        w[0] += 0.1 * err
        w[1] += 0.1 * err * x
        w[2] += 0.1 * err * y
    state["epoch"] += 1
    if state["epoch"] % 50 == 0:
        save()
save()
print("epoch", state["epoch"], "weights", state["w"])
sys.exit(0)
