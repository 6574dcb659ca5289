import random
import sys

random.seed(9)
with open(sys.argv[2], "w") as out:
    out.write("<catalog>\n")
    for n in range(int(sys.argv[1])):
        out.write(
            f'<book id="b{n}" lang="{random.choice(["de", "en", "fi"])}"><title>Volume {n} &amp; more</title>'
            f"<year>{random.randrange(1900, 2020)}</year><price currency='EUR'>{random.random() * 50:.2f}</price>"
            + "".join(f"<author>Author {random.randrange(900)}</author>" for _ in range(random.randrange(1, 4)))
            + "</book>\n"
        )
    out.write("</catalog>\n")
