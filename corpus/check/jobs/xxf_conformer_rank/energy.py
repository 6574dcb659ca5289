import sys


def frames(path):
    lines = open(path).read().splitlines()
    i = 0
    while i < len(lines) and lines[i].strip():
        n = int(lines[i])
        yield lines[i + 1], [tuple(map(float, l.split()[1:4])) for l in lines[i + 2:i + 2 + n]]
        i += n + 2


def lj(xyz):
    e = 0.0
    for i, a in enumerate(xyz):
        for b in xyz[:i]:
            r2 = sum((p - q) ** 2 for p, q in zip(a, b))
            s = (3.4 ** 2 / r2) ** 3
            e += 0.24 * (s * s - s)
    return e


es = [(t, lj(x)) for t, x in frames(sys.argv[1])]
low = min(e for _, e in es)
for t, e in es:
    print(t.replace(" ", "_"), round(e - low, 4))
