import argparse
import pathlib

ap = argparse.ArgumentParser()
ap.add_argument("reads", type=pathlib.Path)
ap.add_argument("--into", default="out", type=pathlib.Path)
ns = ap.parse_args()
ns.into.mkdir(parents=True, exist_ok=True)
for number, line in enumerate(ns.reads.open()):
    (ns.into / f"{number:04}.txt").write_text(line)
