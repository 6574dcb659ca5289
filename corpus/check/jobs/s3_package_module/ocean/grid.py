def levels(depth):
    return [10 * k for k in range(depth)]
