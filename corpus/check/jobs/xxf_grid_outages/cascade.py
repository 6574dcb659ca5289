import csv
import random
import sys
from multiprocessing import Pool


def load(path):
    with open(path, newline="") as fh:
        return [(r["a"], r["b"], float(r["cap"])) for r in csv.DictReader(fh)]


def cascade(arg):
    lines, seed = arg
    rng = random.Random(seed)
    load_ = {i: rng.uniform(0.4, 0.95) * c for i, (_, _, c) in enumerate(lines)}
    dead = {rng.randrange(len(lines))}
    grew = True
    while grew:                       # the set only grows, so this ends
        grew = False
        alive = [i for i in load_ if i not in dead]
        if not alive:
            break
        extra = sum(load_[i] for i in dead) / len(alive)
        for i in alive:
            if load_[i] + extra > lines[i][2]:
                dead.add(i)
                grew = True
    return len(dead)


if __name__ == "__main__":
    lines = load(sys.argv[1])
    base, workers = int(sys.argv[2]) * 100000, int(sys.argv[3])
    with Pool(workers) as pool:
        res = pool.map(cascade, [(lines, base + k) for k in range(20000)], chunksize=500)
    print("mean", sum(res) / len(res), "black-outs", sum(r == len(lines) for r in res))
