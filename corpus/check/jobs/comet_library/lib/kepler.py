def period(axis):
    return axis ** 1.5
