import re
import sys

for n, line in enumerate(open(sys.argv[1]), 1):
    words = re.findall(r"[A-Za-z]+", line)
    sents = max(1, len(re.findall(r"[.!?]", line)))
    syl = sum(max(1, len(re.findall(r"[aeiouy]+", w.lower()))) for w in words)
    print(n, round(206.835 - 1.015 * len(words) / sents - 84.6 * syl / max(1, len(words)), 1))
