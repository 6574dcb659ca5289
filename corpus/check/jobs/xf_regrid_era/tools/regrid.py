import argparse

p = argparse.ArgumentParser(description="toy 1-d regridder")
p.add_argument("--input", required=True)
p.add_argument("--output", required=True)
p.add_argument("--resolution", type=float, default=0.5)
p.add_argument("--method", choices=["nearest", "linear", "conservative"], default="linear")
a = p.parse_args()

xs, ys = zip(*(map(float, l.split()) for l in open(a.input) if l.strip()))


def interp(x):
    for i in range(len(xs) - 1):
        if xs[i] <= x <= xs[i + 1]:
            f = (x - xs[i]) / (xs[i + 1] - xs[i])
            if a.method == "nearest":
                return ys[i] if f < 0.5 else ys[i + 1]
            return ys[i] + f * (ys[i + 1] - ys[i])
    return ys[-1]


with open(a.output, "w") as fh:
    x = xs[0]
    while x <= xs[-1]:
        fh.write("%g %g\n" % (x, interp(x)))
        x += a.resolution
