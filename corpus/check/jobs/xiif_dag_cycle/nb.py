#!/usr/bin/env python3
import json
import sys
from collections import Counter


def prepare():
    rows = [l.rstrip("\n").split("\t") for l in open("mails.txt")]
    json.dump({"train": rows[::2], "test": rows[1::2]}, open("split.json", "w"))


def train():
    words = {"ham": Counter(), "spam": Counter()}
    for label, text in json.load(open("split.json"))["train"]:
        words[label].update(text.split())
    json.dump(words, open("model.json", "w"))


def evaluate():
    m = json.load(open("model.json"))
    ok = 0
    test = json.load(open("split.json"))["test"]
    for label, text in test:
        score = sum(m["spam"].get(w, 0) - m["ham"].get(w, 0) for w in text.split())
        ok += ("spam" if score > 0 else "ham") == label
    print(ok, "of", len(test))


{"prepare": prepare, "train": train, "evaluate": evaluate}[sys.argv[1]]()
