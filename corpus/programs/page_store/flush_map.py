import mmap
import sys

# a bitmap of used blocks, memory mapped; every change is flushed
blocks = 1 << 20
with open("bitmap", "wb") as f:
    f.truncate(blocks // 8)
with open("bitmap", "r+b") as f, mmap.mmap(f.fileno(), 0) as used:
    at = 1
    for n in range(int(sys.argv[1])):
        at = at * 69069 % blocks
        used[at // 8] |= 1 << at % 8
        page = at // 8 // mmap.PAGESIZE * mmap.PAGESIZE
        used.flush(page, mmap.PAGESIZE)
    print(sum(byte.bit_count() for byte in used[:]))
