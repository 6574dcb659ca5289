import time
from pathlib import Path

TARGET = 21.0


def temperature():
    return int(Path("/sys/class/thermal/thermal_zone0/temp").read_text()) / 1000


def heater(on):
    Path("/run/heater").write_text("1" if on else "0")


on = False
while True:
    now = temperature()
    if now < TARGET - 0.5:
        on = True
    elif now > TARGET + 0.5:
        on = False
    heater(on)
    time.sleep(10)
