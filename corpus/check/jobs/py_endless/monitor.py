import time

state = {"ticks": 0}
while True:
    state["ticks"] += 1
    time.sleep(0.5)
