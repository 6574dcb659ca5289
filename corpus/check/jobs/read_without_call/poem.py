with open("poem.txt") as source:
    for line in source.readlines:
        print(line.strip())
