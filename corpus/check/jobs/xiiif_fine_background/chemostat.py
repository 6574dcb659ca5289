import sys

PARAM = {"ecoli": (1.0, 0.05), "yeast": (0.45, 0.1), "bacillus": (0.8, 0.07)}

medium = {}
with open(sys.argv[1]) as fh:
    for line in fh:
        key, value = line.split()
        medium[key] = float(value)

mu_max, ks = PARAM[sys.argv[2]]
s, x, d, dt = medium["glucose"], 0.01, medium["dilution"], 0.01
for step in range(5001):
    if step % 500 == 0:
        print(f"{step * dt:.1f}\t{s:.4f}\t{x:.4f}")
    mu = mu_max * s / (ks + s)
    s, x = (s + dt * (d * (medium["glucose"] - s) - mu * x / 0.5),
            x + dt * (mu - d) * x)
    s = max(s, 0.0)
