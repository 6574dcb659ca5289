"""Recalculate a sheet of formulas until nothing changes."""
import ast
import operator
import sys

OPS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
size, rounds = int(sys.argv[1]), int(sys.argv[2])
columns = "abcdefghij"
formulas = {}
for row in range(size):
    for k, column in enumerate(columns):
        if row == 0 or k == 0:
            formulas[f"{column}{row}"] = str(row * 10 + k)
        else:
            formulas[f"{column}{row}"] = f"{columns[k - 1]}{row} + {column}{row - 1} * 2 - {columns[k - 1]}{row - 1}"


def compute(node, cells):
    if isinstance(node, ast.BinOp):
        return OPS[type(node.op)](compute(node.left, cells), compute(node.right, cells)) % 1_000_003
    if isinstance(node, ast.Name):
        return cells.get(node.id, 0)
    return node.value


cells = {}
for n in range(rounds):
    changed = 0
    for name in reversed(formulas):
        value = compute(ast.parse(formulas[name], mode="eval").body, cells)
        changed += cells.get(name) != value
        cells[name] = value
    print(n, changed)
    if not changed:
        break
