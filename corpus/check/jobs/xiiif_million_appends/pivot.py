"""Self-avoiding walk on the square lattice, pivot algorithm."""
import argparse
import os
import random

STEPS = 5_000_000
ROT = [lambda x, y: (-y, x), lambda x, y: (y, -x), lambda x, y: (-x, -y),
       lambda x, y: (x, -y), lambda x, y: (-x, y)]


def pivot(walk, rng):
    k = rng.randrange(1, len(walk) - 1)
    f = rng.choice(ROT)
    px, py = walk[k]
    tail = []
    for x, y in walk[k + 1:]:
        dx, dy = f(x - px, y - py)
        tail.append((px + dx, py + dy))
    head = walk[:k + 1]
    if set(head).isdisjoint(tail):
        return head + tail
    return walk


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--length", type=int, required=True)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--trace", required=True)
    a = ap.parse_args()
    rng = random.Random(a.seed)
    walk = [(i, 0) for i in range(a.length + 1)]
    if os.path.exists(a.trace):
        os.remove(a.trace)
    for step in range(STEPS):
        walk = pivot(walk, rng)
        x, y = walk[-1]
        with open(a.trace, "a") as fh:
            fh.write(f"{step} {x * x + y * y}\n")


if __name__ == "__main__":
    main()
