import argparse
import random

from .funcs import FUNCS

p = argparse.ArgumentParser()
p.add_argument("--method", choices=("anneal", "climb"), default="climb")
p.add_argument("--func", choices=sorted(FUNCS), default="sphere")
p.add_argument("--start", nargs="+", type=float, required=True)
p.add_argument("--shift", type=float, default=0.0)
p.add_argument("--log", action=argparse.BooleanOptionalAction, default=True)
a = p.parse_args()
random.seed(1)
f = FUNCS[a.func]
x = list(a.start)
best = f(x, a.shift)
temp = 1.0 if a.method == "anneal" else 0.0
for k in range(500):
    y = [v + random.gauss(0, 0.2) for v in x]
    v = f(y, a.shift)
    if v < best + temp * random.random():
        x, best = y, v
    temp *= 0.98
    if a.log:
        print(k, best)
print("%.4f %s" % (best, a.method))
