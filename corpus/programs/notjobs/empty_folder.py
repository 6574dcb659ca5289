import os
import shutil

INBOX, OUT = "inbox", "sorted"

names = os.listdir(INBOX)
while names:
    for name in names:
        kind = os.path.splitext(name)[1][1:] or "other"
        os.makedirs(os.path.join(OUT, kind), exist_ok=True)
        shutil.move(os.path.join(INBOX, name), os.path.join(OUT, kind, name))
    names = os.listdir(INBOX)
