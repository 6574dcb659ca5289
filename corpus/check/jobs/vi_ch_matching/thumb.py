import sys

name, width = sys.argv[1], int(sys.argv[2])
with open(name, "rb") as f:
    magic = f.readline().strip()
print(name, magic.decode(), width)
