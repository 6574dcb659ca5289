def focus(radius):
    return radius / 2
