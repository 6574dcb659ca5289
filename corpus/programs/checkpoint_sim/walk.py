"""Random walkers; the state is written after each step so that nothing is lost."""
import json
import os
import random
import sys

steps = int(sys.argv[1])
state = {"step": 0, "walkers": [0] * 500}
if os.path.exists("state.json"):
    with open("state.json") as f:
        state = json.load(f)
while state["step"] < steps:
    rng = random.Random(state["step"])
    state["walkers"] = [w + rng.choice((-1, 1)) for w in state["walkers"]]
    state["step"] += 1
    with open("state.json.new", "w") as f:
        json.dump(state, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace("state.json.new", "state.json")
    folder = os.open(".", os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
print(sum(w * w for w in state["walkers"]) / len(state["walkers"]))
