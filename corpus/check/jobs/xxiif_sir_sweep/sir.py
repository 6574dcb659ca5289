#!/usr/bin/env python3
import argparse
import csv
import json
import random

ap = argparse.ArgumentParser()
ap.add_argument("--seed", type=int, required=True)
ap.add_argument("--out", required=True)
opt = ap.parse_args()

with open("params.json") as fh:
    par = json.load(fh)

nb = {}
with open("contacts.csv", newline="") as fh:
    for row in csv.DictReader(fh):
        nb.setdefault(row["a"], []).append((row["b"], float(row["hours"])))
        nb.setdefault(row["b"], []).append((row["a"], float(row["hours"])))

random.seed(opt.seed)
state = dict.fromkeys(nb, "S")
state[random.choice(sorted(nb))] = "I"
with open(opt.out, "w", newline="") as fh:
    w = csv.writer(fh)
    w.writerow(["day", "S", "I", "R"])
    for day in range(par["days"]):
        new = dict(state)
        for p in nb:
            if state[p] == "I":
                for q, h in nb[p]:
                    if state[q] == "S" and random.random() < 1 - (1 - par["beta"]) ** h:
                        new[q] = "I"
                if random.random() < par["gamma"]:
                    new[p] = "R"
        state = new
        v = list(state.values())
        w.writerow([day] + [v.count(x) for x in "SIR"])
