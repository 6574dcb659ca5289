import random

random.seed(3)
waiting = []
served = 0
for minute in range(60):
    if random.random() < 0.4:
        waiting.push(minute)
    if waiting and minute % 3 == 0:
        waiting.pop(0)
        served += 1
print(served)
