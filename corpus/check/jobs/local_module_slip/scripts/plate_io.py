def wells(count):
    return [0.1 * i for i in range(1, count + 1)]
