table = {"a": 1}
print(table["b"])
