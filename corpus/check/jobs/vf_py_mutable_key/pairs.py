from itertools import combinations

names = ["a", "b", "c"]
table = {}
for x, y in combinations(names, 2):
    table[[x, y]] = ord(x) + ord(y)
print(table)
