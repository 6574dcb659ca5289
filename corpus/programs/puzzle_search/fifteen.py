"""IDA* for the 15-puzzle. With --verbose it may wait between boards so that one can read along."""
import argparse
import random
import time

GOAL = tuple(range(1, 16)) + (0,)


def distance(board):
    return sum(abs((v - 1) // 4 - i // 4) + abs((v - 1) % 4 - i % 4) for i, v in enumerate(board) if v)


def neighbours(board):
    z = board.index(0)
    for step in (-4, 4, -1, 1):
        t = z + step
        if 0 <= t < 16 and not (abs(step) == 1 and t // 4 != z // 4):
            cells = list(board)
            cells[z], cells[t] = cells[t], cells[z]
            yield tuple(cells)


def search(path, g, bound):
    f = g + distance(path[-1])
    if f > bound:
        return f
    if path[-1] == GOAL:
        return True
    least = 999
    for board in neighbours(path[-1]):
        if board not in path:
            path.append(board)
            found = search(path, g + 1, bound)
            if found is True:
                return True
            least = min(least, found)
            path.pop()
    return least


parser = argparse.ArgumentParser()
parser.add_argument("boards", type=int)
parser.add_argument("--moves", type=int, default=60)
parser.add_argument("--verbose", action="store_true")
args = parser.parse_args()
random.seed(4)
for _ in range(args.boards):
    board = GOAL
    for _ in range(args.moves):
        board = random.choice(list(neighbours(board)))
    bound, path = distance(board), [board]
    while (found := search(path, 0, bound)) is not True:
        bound = found
    if args.verbose:
        print(board)
        time.sleep(2)
    print(len(path) - 1, "moves")
