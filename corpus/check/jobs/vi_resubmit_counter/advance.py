import pathlib, sys
step = int(sys.argv[1])
state = pathlib.Path("state.txt")
old = state.read_text() if state.exists() else ""
state.write_text(old + f"{step}\n")
