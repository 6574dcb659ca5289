#!/usr/bin/env python3
import math
import random
import sys


def acc(r, z):
    # Miyamoto-Nagai disc + log halo, kpc / (km/s)
    s = math.sqrt(z * z + 0.3 ** 2)
    d = (r * r + (4.0 + s) ** 2) ** 1.5
    gm = 4.0e5
    ar = -gm * r / d - 220.0 ** 2 * r / (r * r + z * z + 144.0)
    az = -gm * z * (4.0 + s) / (d * s) - 220.0 ** 2 * z / (r * r + z * z + 144.0)
    return ar, az


def orbit(rng, steps=400, dt=0.002):
    r, z = rng.gauss(8, 2), rng.gauss(0, 0.07)
    vr, vz = rng.gauss(0, 265), rng.gauss(0, 265)
    for _ in range(steps):
        ar, az = acc(r, z)
        vr += ar * dt
        vz += az * dt
        r += vr * dt
        z += vz * dt
    return r, z


seed, n = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)
far = 0
for i in range(n):
    r, z = orbit(rng)
    far += abs(z) > 1.0
print(seed, n, far / n)
