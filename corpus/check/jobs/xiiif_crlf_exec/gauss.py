import sys

path, centre = sys.argv[1], float(sys.argv[2])
pts = [tuple(map(float, l.split())) for l in open(path) if not l.startswith("#")]
base = min(y for _, y in pts)
win = [(x, y - base) for x, y in pts if abs(x - centre) < 0.5]
flux = sum(y for _, y in win)
mean = sum(x * y for x, y in win) / flux
var = sum(y * (x - mean) ** 2 for x, y in win) / flux
print(f"{path} mean {mean:.4f} sigma {var ** 0.5:.4f} flux {flux:.1f}")
