"""Game of life on a board that lives in a memory-mapped file."""
import mmap
import sys

side, generations = int(sys.argv[1]), int(sys.argv[2])
with open("board", "wb") as f:
    f.truncate(2 * side * side)
with open("board", "r+b") as f, mmap.mmap(f.fileno(), 0) as board:
    now, new = 0, side * side
    for k in range(0, side * side, 3):
        board[k] = k * 7 % 5 < 2
    for generation in range(generations):
        for y in range(1, side - 1):
            row = now + y * side
            for x in range(row + 1, row + side - 1):
                around = (
                    board[x - side - 1] + board[x - side] + board[x - side + 1]
                    + board[x - 1] + board[x + 1]
                    + board[x + side - 1] + board[x + side] + board[x + side + 1]
                )
                board[x - now + new] = around == 3 or (around == 2 and board[x])
        now, new = new, now
    board.flush()
    print(sum(board[now : now + side * side]))
