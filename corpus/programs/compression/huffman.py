import heapq
import sys
from collections import Counter


def codes(text):
    heap = [(n, i, c) for i, (c, n) in enumerate(Counter(text).items())]
    heapq.heapify(heap)
    fresh = len(heap)
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (a[0] + b[0], fresh, (a[2], b[2])))
        fresh += 1
    table = {}

    def walk(node, prefix):
        if isinstance(node, tuple):
            walk(node[0], prefix + "0")
            walk(node[1], prefix + "1")
        else:
            table[node] = prefix or "0"

    walk(heap[0][2], "")
    return table


def decode(bits, table):
    back = {code: c for c, code in table.items()}
    out, word = [], ""
    for bit in bits:
        word += bit
        if word in back:
            out.append(back[word])
            word = ""
    return "".join(out)


if __name__ == "__main__":
    text = "so the river met the sea and the sea was grey " * int(sys.argv[1])
    table = codes(text)
    bits = "".join(table[c] for c in text)
    assert decode(bits, table) == text
    print(f"{len(bits) / 8 / len(text):.1%}")
