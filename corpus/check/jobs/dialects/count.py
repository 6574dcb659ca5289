import sys
words = open(sys.argv[1]).read().split()
print("words:", len(words)
print("different:", len(set(words)))
