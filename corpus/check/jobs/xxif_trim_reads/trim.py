"""Cut the Illumina adapter off and drop short reads."""
import argparse
import sys

ADAPTER = "AGATCGGAAGAGC"


def records(handle):
    while True:
        block = [handle.readline().rstrip("\n") for _ in range(4)]
        if not block[0]:
            return
        yield block


def main():
    p = argparse.ArgumentParser()
    p.add_argument("fastq")
    p.add_argument("--min-length", type=int, default=20)
    args = p.parse_args()
    kept = dropped = 0
    with open(args.fastq) as fh:
        for name, seq, plus, qual in records(fh):
            cut = seq.find(ADAPTER)
            if cut >= 0:
                seq, qual = seq[:cut], qual[:cut]
            if len(seq) < args.min_length:
                dropped += 1
                continue
            kept += 1
            print(name, seq, plus, qual, sep="\n")
    print(f"kept {kept}, dropped {dropped}", file=sys.stderr)


if __name__ == "__main__":
    main()
