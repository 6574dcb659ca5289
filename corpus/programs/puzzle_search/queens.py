import sys


def place(row, columns, left, right, full):
    if columns == full:
        return 1
    count = 0
    free = full & ~(columns | left | right)
    while free:
        bit = free & -free
        free ^= bit
        count += place(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1, full)
    return count


n = int(sys.argv[1])
print(f"{n} queens: {place(0, 0, 0, 0, (1 << n) - 1)} ways")
