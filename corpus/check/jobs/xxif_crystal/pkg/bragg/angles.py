import itertools
import math


def reflections(a, wavelength, hmax):
    out = []
    for hkl in itertools.combinations_with_replacement(range(hmax + 1), 3):
        if not any(hkl):
            continue
        d = a / math.sqrt(sum(x * x for x in hkl))
        s = wavelength / (2 * d)
        if s < 1 and len({x % 2 for x in hkl}) == 1:
            out.append((hkl, 2 * math.degrees(math.asin(s))))
    return sorted(out, key=lambda r: r[1])
