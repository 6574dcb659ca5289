def subtract(pts, window):
    out = []
    for i, (x, y) in enumerate(pts):
        lo = max(0, i - window)
        out.append((x, y - min(v for _, v in pts[lo:i + window + 1])))
    return out
