import argparse
import random

ap = argparse.ArgumentParser()
ap.add_argument("--fold", type=int)
ap.add_argument("--lr", type=float)
a = ap.parse_args()
random.seed(a.fold)
w = 0.0
for _ in range(200):
    x = random.random()
    w += a.lr * (3 * x - w * x) * x
print("fold %d lr %g w %.4f" % (a.fold, a.lr, w))
