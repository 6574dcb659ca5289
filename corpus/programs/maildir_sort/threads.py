"""Rebuild conversation threads of a mailbox from its headers."""
import email
import mailbox
import random
import sys

rng = random.Random(31)
box = mailbox.mbox("archive.mbox")
box.lock()
for n in range(int(sys.argv[1])):
    m = email.message_from_string("\n".join(f"line {k} of {n}" for k in range(12)))
    m["Message-ID"] = f"<{n}@example.org>"
    if n and rng.random() < 0.8:
        m["In-Reply-To"] = f"<{rng.randrange(n)}@example.org>"
    m["Subject"] = f"=?utf-8?q?Re=3A_topic_{n % 50}?="
    box.add(m)
box.flush()
box.unlock()

parents, subjects = {}, {}
for message in box:
    parents[message["Message-ID"]] = message["In-Reply-To"]
    subjects[message["Message-ID"]] = str(email.header.make_header(email.header.decode_header(message["Subject"])))
depth = {}
for one in parents:
    chain = [one]
    while (above := parents.get(chain[-1])) and above not in depth:
        chain.append(above)
    start = depth.get(parents.get(chain[-1]), -1)
    for k, name in enumerate(reversed(chain), 1):
        depth[name] = start + k
longest = max(depth, key=depth.get)
print(len(parents), "messages, deepest", depth[longest], subjects[longest])
