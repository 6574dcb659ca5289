def coerce(s):
    for f in (int, float):
        try:
            return f(s)
        except ValueError:
            pass
    return s
