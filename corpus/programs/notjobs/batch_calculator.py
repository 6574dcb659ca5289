import cmd
import sys


class Calculator(cmd.Cmd):
    stack = []

    def do_push(self, arg):
        self.stack.append(float(arg))

    def do_mul(self, arg):
        self.stack.append(self.stack.pop() * self.stack.pop())


calculator = Calculator()
with open(sys.argv[1]) as script:
    for line in script:
        calculator.onecmd(line)
print(calculator.stack)
