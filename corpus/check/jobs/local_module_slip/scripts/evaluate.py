import statistics

from plateio import wells

print(statistics.mean(wells(3)))
