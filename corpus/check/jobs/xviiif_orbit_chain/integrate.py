#!/usr/bin/env python3
"""Leapfrog of a two-planet system with checkpoint in a JSON file."""
import json
import math
import os
import sys
import time

T_END = 1.0e6           # years
DT = 1.0e-3
G = 4 * math.pi ** 2


def acc(q, m):
    a = []
    for i in range(len(q)):
        ax = ay = 0.0
        for j in range(len(q)):
            if i != j:
                dx, dy = q[j][0] - q[i][0], q[j][1] - q[i][1]
                w = G * m[j] / (dx * dx + dy * dy) ** 1.5
                ax += w * dx
                ay += w * dy
        a.append((ax, ay))
    return a


def main(path, seconds):
    if os.path.exists(path):
        with open(path) as fh:
            s = json.load(fh)
    else:
        s = {"t": 0.0, "m": [1.0, 1.3e-5, 2.4e-5],
             "q": [[0, 0], [0.115, 0], [0.128, 0]],
             "v": [[0, 0], [0, math.sqrt(G / 0.115)], [0, math.sqrt(G / 0.128)]]}
    if s["t"] >= T_END:
        print("already at the end of the integration")
        return 0
    stop = time.time() + seconds
    while time.time() < stop and s["t"] < T_END:
        for _ in range(1000):
            a = acc(s["q"], s["m"])
            for v, w in zip(s["v"], a):
                v[0] += DT * w[0]
                v[1] += DT * w[1]
            for q, v in zip(s["q"], s["v"]):
                q[0] += DT * v[0]
                q[1] += DT * v[1]
            s["t"] += DT
    with open(path + ".tmp", "w") as fh:
        json.dump(s, fh)
    os.replace(path + ".tmp", path)
    print("t = %.3f yr" % s["t"])
    return 0


sys.exit(main(sys.argv[1], float(sys.argv[2])))
