import math
heights = []
for hour in range(24):
    heights.append(math.sin(hour / 12.4 * 2 * math.pi))
     print(hour)
print(max(heights))
