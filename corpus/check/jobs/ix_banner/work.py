import time
t = time.time()
s = 0
for i in range(1000): s += i
print(s, "in", time.time() - t > 0)
