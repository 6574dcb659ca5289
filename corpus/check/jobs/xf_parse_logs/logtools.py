import re

PAT = re.compile(r'(?P<ip>\S+) \S+ \S+ \[(?P<ts>[^]]+)\] "(?P<verb>\w+) (?P<path>\S+)')


def parse_line(line):
    m = PAT.match(line)
    return m.groupdict() if m else None
