"""A recursive-descent parser and evaluator for arithmetic, with a random generator of tests."""
import random
import re
import sys

TOKEN = re.compile(r"\s*(?:(\d+)|(.))")


class Parser:
    def __init__(self, text):
        self.tokens = [(int(n) if n else None, op) for n, op in TOKEN.findall(text)]
        self.at = 0

    def peek(self):
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def expression(self):
        value = self.term()
        while self.peek() and self.peek() in "+-":
            op = self.tokens[self.at][1]
            self.at += 1
            other = self.term()
            value = value + other if op == "+" else value - other
        return value

    def term(self):
        value = self.factor()
        while self.peek() == "*":
            self.at += 1
            value = value * self.factor() % 1000003
        return value

    def factor(self):
        number, op = self.tokens[self.at]
        self.at += 1
        if op == "(":
            value = self.expression()
            self.at += 1
            return value
        if op == "-":
            return -self.factor()
        return number


def generate(depth, rng):
    if depth == 0:
        return str(rng.randrange(1000))
    op = rng.choice("+-*")
    return f"({generate(depth - 1, rng)} {op} {generate(depth - 1, rng)})"


rng = random.Random(0)
total = 0
for _ in range(int(sys.argv[1])):
    total += Parser(generate(7, rng)).expression()
print(total)
