import cmd
import operator


class Calculator(cmd.Cmd):
    prompt = "calc> "
    stack = []

    def do_push(self, arg):
        """push NUMBER"""
        self.stack.append(float(arg))

    def do_add(self, arg):
        """add the two numbers on top"""
        self.stack.append(operator.add(self.stack.pop(), self.stack.pop()))

    def do_quit(self, arg):
        return True

    def postcmd(self, stop, line):
        print(self.stack)
        return stop


Calculator().cmdloop()
