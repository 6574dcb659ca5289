from pathlib import Path

OUT = Path("figures")


def bars(counts):
    for name, count in counts.items():
        yield f"{name:8s} {'#' * count}"


text = "\n".join(bars({"a": 3, "b": 7}))
(OUT / "hist.txt").write_text(text)
