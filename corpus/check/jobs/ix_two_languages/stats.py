values = [float(line.split()[1]) for line in open("wave.dat")]
with open("stats.txt", "w") as out:
    out.write("%f %f\n" % (min(values), max(values)))
print(open("stats.txt").read())
