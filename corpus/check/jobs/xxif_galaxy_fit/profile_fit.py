"""Straight line through the surface brightness against r or r^(1/4)."""
import sys


def fit(x, y):
    n = len(x)
    sx, sy = sum(x), sum(y)
    sxx = sum(a * a for a in x)
    sxy = sum(a * b for a, b in zip(x, y))
    slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
    return (sy - slope * sx) / n, slope


def main():
    model, path = sys.argv[1:3]
    power = {"sersic": 0.25, "exponential": 1.0}[model]
    with open(path) as fh:
        points = [tuple(map(float, line.split())) for line in fh if line.strip()]
    mu0, slope = fit([r ** power for r, _ in points], [m for _, m in points])
    print("# points", len(points))
    print(f"{mu0:.4f} {slope:.4f}")


if __name__ == "__main__":
    main()
