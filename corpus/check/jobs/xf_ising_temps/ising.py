import argparse, math, random

ap = argparse.ArgumentParser()
ap.add_argument("--temp", type=float, required=True)
ap.add_argument("--size", type=int, default=16)
ap.add_argument("--sweeps", type=int, default=1000)
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--out", required=True)
a = ap.parse_args()
random.seed(a.seed)
L = a.size
s = [[1] * L for _ in range(L)]
mags = []
for sweep in range(a.sweeps):
    for _ in range(L * L):
        i, j = random.randrange(L), random.randrange(L)
        nb = s[(i + 1) % L][j] + s[i - 1][j] + s[i][(j + 1) % L] + s[i][j - 1]
        dE = 2 * s[i][j] * nb
        if dE <= 0 or random.random() < math.exp(-dE / a.temp):
            s[i][j] *= -1
    mags.append(abs(sum(map(sum, s))) / L ** 2)
with open(a.out, "w") as fh:
    fh.write("T,%g\nm,%.4f\n" % (a.temp, sum(mags[len(mags) // 2:]) / (len(mags) - len(mags) // 2)))
