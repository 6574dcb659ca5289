import argparse
import json
import os
import random
from pathlib import Path

ap = argparse.ArgumentParser()
ap.add_argument("--state", type=Path, required=True)
ap.add_argument("--generations", type=int, default=10)
args = ap.parse_args()

state = json.loads(args.state.read_text()) if args.state.exists() else {"gen": 0, "best": 0.0}
while state["gen"] < args.generations:
    state["gen"] += 1
    state["best"] = max(state["best"], random.random())
    tmp = args.state.with_suffix(".tmp")
    tmp.write_text(json.dumps(state))
    os.replace(tmp, args.state)
