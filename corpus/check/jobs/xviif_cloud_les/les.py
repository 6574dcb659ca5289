import argparse
import os

p = argparse.ArgumentParser()
p.add_argument("--restart", required=True)
p.add_argument("--hours", type=float, default=6)
p.add_argument("--end", type=float, default=240.0, help="end of the simulation (h)")
a = p.parse_args()

t, col = 0.0, [290.0 - 0.0065 * 100 * k for k in range(60)]
if os.path.exists(a.restart):
    with open(a.restart) as fh:
        t = float(fh.readline())
        col = [float(v) for v in fh.readline().split()]

stop = min(t + a.hours, a.end)
dt = 2.0 / 3600
while t < stop:
    new = col[:]
    for k in range(1, len(col) - 1):
        new[k] = col[k] + 0.05 * (col[k + 1] - 2 * col[k] + col[k - 1])
    col = new
    t += dt

with open(a.restart + ".tmp", "w") as fh:
    fh.write("%.6f\n%s\n" % (t, " ".join("%.6f" % v for v in col)))
os.replace(a.restart + ".tmp", a.restart)
print("t = %.3f h, surface %.3f K" % (t, col[0]))
