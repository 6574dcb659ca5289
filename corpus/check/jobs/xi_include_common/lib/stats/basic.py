def mean(it):
    v = list(it)
    return sum(v) / len(v)
