#!/usr/bin/env python3
import sys

mode, *rest = sys.argv[1:]
read = lambda p: [float(l) for l in open(p)]
if mode == "mesh":
    n = int(rest[0])
    with open("mesh.txt", "w") as fh:
        fh.writelines(f"{i / n}\n" for i in range(n + 1))
elif mode == "solve":
    x = read("mesh.txt")
    u = [1.0 if 0.2 < v < 0.4 else 0.0 for v in x]
    for _ in range(20):
        if rest[0] == "upwind":
            u = [u[i] - 0.5 * (u[i] - u[i - 1]) for i in range(len(u))]
        else:
            u = [u[i] - 0.25 * (u[(i + 1) % len(u)] - u[i - 1]) for i in range(len(u))]
    with open(f"sol_{rest[0]}.txt", "w") as fh:
        fh.writelines(f"{v}\n" for v in u)
else:
    a, b = map(read, rest)
    print(max(abs(p - q) for p, q in zip(a, b)))
