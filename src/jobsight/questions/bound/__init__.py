"""Which resource will bind a program? Read from its source, learned from measured runs."""
