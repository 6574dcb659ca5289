import sys
total = 0.0
count = 0
for line in open(sys.argv[1]):
    fields = line.strip().split(",")
    total += float(fields[1])
    count += 1
print(total / count)
