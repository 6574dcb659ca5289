import argparse
import csv

p = argparse.ArgumentParser()
p.add_argument("data")
p.add_argument("--depth", type=int, required=True)
p.add_argument("--fold", type=int, required=True)
a = p.parse_args()

rows = [([float(v) for v in r[:2]], r[2]) for r in csv.reader(open(a.data))]
test = rows[a.fold::3]
train = [r for i, r in enumerate(rows) if i % 3 != a.fold]


def grow(rows, depth):
    labels = [y for _, y in rows]
    major = max(set(labels), key=labels.count)
    if depth == 0 or len(set(labels)) == 1:
        return major
    f = depth % 2
    cut = sorted(x[f] for x, _ in rows)[len(rows) // 2]
    lo, hi = [r for r in rows if r[0][f] < cut], [r for r in rows if r[0][f] >= cut]
    if not lo or not hi:
        return major
    return f, cut, grow(lo, depth - 1), grow(hi, depth - 1)


def predict(tree, x):
    while isinstance(tree, tuple):
        f, cut, lo, hi = tree
        tree = lo if x[f] < cut else hi
    return tree


tree = grow(train, a.depth)
ok = sum(predict(tree, x) == y for x, y in test)
print("depth,fold,accuracy")
print(f"{a.depth},{a.fold},{ok / len(test):.3f}")
