"""A Kafka broker for tests: librdkafka's mock cluster, alone in a process.

Run as a script with the number of an inherited pidfd and a folder. It prints the broker's address
and stays until the process behind the pidfd is gone, or standard input is closed; then nobody is
left who would remove the folder, so it does.
"""

import select
import shutil
import sys

from confluent_kafka import Producer

__all__ = ["main"]


def main(watch: int, folder: str) -> int:
    """Serve; the mock cluster lives as long as the client that asked for it."""
    keeper = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
    (broker,) = keeper.list_topics(timeout=20).brokers.values()
    sys.stdout.write(f"127.0.0.1:{broker.port}\n")
    sys.stdout.flush()
    select.select([watch, sys.stdin], [], [])
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2]))
