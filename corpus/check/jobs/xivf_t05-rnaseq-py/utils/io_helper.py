def read_table(path):
    with open(path) as fh:
        next(fh)
        return [line.rstrip("\n").split("\t") for line in fh]
