import pathlib
import sys
import time

# Syllables per word and words per sentence for chunks of a text.
text = pathlib.Path(sys.argv[1]).read_text()
vowels = set("aeiou")
lines = text.splitlines()
began = time.perf_counter()
scores = []
for at in range(0, len(lines), 10):
    words = " ".join(lines[at:at + 10]).split()
    syllables = 0
    for word in words:
        inside = False
        for letter in word:
            is_vowel = letter in vowels
            if is_vowel and not inside:
                syllables += 1
            inside = is_vowel
    scores.append(206.8 - 84.6 * syllables / max(len(words), 1))
    time.sleep(0)
print(f"{len(scores)} chunks, mean {sum(scores) / len(scores):.2f}, {time.perf_counter() - began:.1f} s")
