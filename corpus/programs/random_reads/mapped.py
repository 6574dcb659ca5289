import mmap
import sys

with open(sys.argv[1], "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as view:
    view.madvise(mmap.MADV_RANDOM)
    pages = len(view) // 4096
    state, total = 1, 0
    for _ in range(int(sys.argv[2])):
        state = (state * 1103515245 + 12345) % (1 << 31)
        total += view[state % pages * 4096 + 9]
print(total)
