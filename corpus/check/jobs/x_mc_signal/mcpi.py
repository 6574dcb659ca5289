import argparse, os, random, signal, sys

ap = argparse.ArgumentParser()
ap.add_argument("--state")
ap.add_argument("--steps", type=int)
a = ap.parse_args()
stop = False


def term(sig, frame):
    global stop
    stop = True


signal.signal(signal.SIGTERM, term)
start = int(open(a.state).read()) if os.path.exists(a.state) else 0
hit = n = 0
step = start
for step in range(start + 1, a.steps + 1):
    for _ in range(1000):
        n += 1
        hit += random.random() ** 2 + random.random() ** 2 < 1
    with open(a.state, "w") as fh:
        fh.write("%d\n" % step)
    if stop:
        sys.exit(0)
with open("pi.txt", "w") as fh:
    fh.write("%.4f\n" % (4 * hit / max(n, 1)))
