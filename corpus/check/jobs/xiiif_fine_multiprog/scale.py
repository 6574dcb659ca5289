import sys

kind, variant, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
names = "C C# D Eb E F F# G G# A Bb B".split()
if kind == "equal":
    freq = [261.6256 * 2 ** (i / 12) for i in range(12)]
else:
    # fifths narrowed by 1/(4 + variant) of the syntonic comma
    fifth = 1.5 / (81 / 80) ** (1 / (4 + variant))
    ratio = {}
    for n in range(-3, 9):
        r = fifth**n
        while r >= 2:
            r /= 2
        while r < 1:
            r *= 2
        ratio[7 * n % 12] = r
    freq = [261.6256 * ratio[i] for i in range(12)]
with open(target, "w") as fh:
    for name, f in zip(names, freq):
        fh.write(f"{name}\t{f:.4f}\n")
