scores = {"a": 3, "b": 0, "c": 5, "d": 0}
for name in scores:
    if scores[name] == 0:
        del scores[name]
print(scores)
