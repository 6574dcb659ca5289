import math


def km(a, b):
    """Great-circle distance of two (lat, lon) pairs."""
    la, lo, lb, lp = map(math.radians, (*a, *b))
    h = math.sin((lb - la) / 2) ** 2 + math.cos(la) * math.cos(lb) * math.sin((lp - lo) / 2) ** 2
    return 2 * 6371 * math.asin(math.sqrt(h))
