"""Small helpers for composition statistics."""


def gc_fraction(seq):
    s = seq.upper()
    return (s.count("G") + s.count("C")) / max(len(s), 1)


def skew_windows(seq, win):
    for i in range(0, len(seq) - win + 1, win):
        w = seq[i:i + win].upper()
        g, c = w.count("G"), w.count("C")
        yield i, (g - c) / (g + c) if g + c else 0.0
