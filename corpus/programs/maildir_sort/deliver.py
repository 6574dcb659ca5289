"""Deliver messages into a maildir, with the guarantees that mail servers give."""
import email.message
import os
import sys

box, count = sys.argv[1], int(sys.argv[2])
for part in ("tmp", "new", "cur"):
    os.makedirs(f"{box}/{part}", exist_ok=True)


def deliver(number):
    message = email.message.EmailMessage()
    message["From"] = f"sender{number % 30}@example.org"
    message["To"] = "list@example.org"
    message["Subject"] = f"Report {number}"
    message.set_content("All is well.\n" * (number % 9 + 1))
    name = f"{number:09d}.host"
    with open(f"{box}/tmp/{name}", "wb") as out:
        out.write(bytes(message))
        out.flush()
        os.fsync(out.fileno())
    os.link(f"{box}/tmp/{name}", f"{box}/new/{name}")
    os.unlink(f"{box}/tmp/{name}")


for n in range(count):
    deliver(n)
print(len(os.listdir(f"{box}/new")), "delivered")
