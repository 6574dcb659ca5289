import math


def constant(path):
    """Mean of ln(Q[t] / Q[t+1]) over the falling limb."""
    q = [float(line) for line in path.read_text().split()]
    falls = [math.log(a / b) for a, b in zip(q, q[1:]) if 0 < b < a]
    return sum(falls) / len(falls) if falls else float("nan")
