from multiprocessing import Pool
import sys


def longest_word_chain(seed):
    letters = "abcde"
    words, x = set(), seed + 1
    while len(words) < 450:
        x = (x * 1103515245 + 12345) % 2**31
        words.add("".join(letters[(x >> s) % 5] for s in range(3, 15, 3)))
    best = {}
    for word in sorted(words):
        tails = [best[w] for i in range(4) for w in (word[:i] + c + word[i + 1 :] for c in letters) if w in best]
        best[word] = 1 + max(tails, default=0)
    return max(best.values())


if __name__ == "__main__":
    workers, tasks = map(int, sys.argv[1:])
    with Pool(workers) as pool:
        print(pool.map(longest_word_chain, range(tasks * 8), chunksize=4))
