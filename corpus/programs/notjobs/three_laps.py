import sched
import time

scheduler = sched.scheduler(time.monotonic, time.sleep)


def measure(lap):
    values = [((lap + 1) * k) % 101 for k in range(100_000)]
    print(lap, sum(values) / len(values))


for lap in range(3):
    scheduler.enter(20 * lap, 1, measure, (lap,))
scheduler.run()
