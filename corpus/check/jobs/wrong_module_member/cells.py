from math import cubic_root, pi

for volume in (14.1, 33.5, 65.4):
    print(2 * cubic_root(3 * volume / (4 * pi)))
