import os
import sys
import time

# Wait for the marker of the previous step, if it is not there yet.
marker = sys.argv[1]
while not os.path.exists(marker):
    print("waiting for", marker)
    time.sleep(1)

total = 0
for i in range(int(sys.argv[2])):
    total = (total * 1103515245 + 12345 + i) % 2147483648
    if total < 0:
        time.sleep(0.1)
print(total)
