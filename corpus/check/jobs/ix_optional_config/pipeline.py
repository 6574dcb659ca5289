import argparse
import json
import logging
import os
from datetime import datetime

DEFAULTS = {"alpha": 0.5, "steps": 1}


def load_config(path="config.json"):
    cfg = dict(DEFAULTS)
    if os.path.isfile(path):
        with open(path) as fh:
            cfg.update(json.load(fh))
    return cfg


def save(obj, folder, name):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w") as fh:
        json.dump(obj, fh, indent=2)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int)
    ap.add_argument("--outdir", default="out")
    ap.add_argument("--resume", action="store_true")
    args = ap.parse_args()
    cfg = load_config()
    if args.steps:
        cfg["steps"] = args.steps
    logging.basicConfig(level=logging.INFO)
    state = {"x": 1.0}
    if args.resume:
        state = json.load(open("state.json"))
    for step in range(cfg["steps"]):
        state["x"] *= cfg["alpha"]
        logging.info("step %d x=%g", step, state["x"])
    save({**state, "at": datetime.now().isoformat()}, args.outdir, "state.json")


if __name__ == "__main__":
    main()
