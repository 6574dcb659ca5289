import os


def main(argv):
    flags = {a.lstrip("-") for a in argv if a.startswith("-")}
    [folder] = [a for a in argv if not a.startswith("-")]
    names = os.listdir(folder)
    if "verbose" in flags:
        print(*sorted(names), sep="\n")
    return 0 if "state.json" in names else 1
