import os
import shutil
import time

INBOX, OUT = "inbox", "sorted"

seen = set(os.listdir(INBOX))
while 1:
    now = set(os.listdir(INBOX))
    for name in now - seen:
        kind = os.path.splitext(name)[1][1:] or "other"
        os.makedirs(os.path.join(OUT, kind), exist_ok=True)
        shutil.copy(os.path.join(INBOX, name), os.path.join(OUT, kind))
    seen = now
    time.sleep(2)
