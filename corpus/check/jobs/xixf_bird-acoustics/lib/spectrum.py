import cmath


def centroid(x):
    n = len(x)
    mags = []
    for k in range(n // 2 + 1):
        mags.append(abs(sum(v * cmath.exp(-2j * cmath.pi * k * i / n) for i, v in enumerate(x))))
    s = sum(mags)
    return sum(k * m for k, m in enumerate(mags)) / s if s else 0.0
