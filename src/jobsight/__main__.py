"""``python -m jobsight`` is the command ``jobsight``."""

from jobsight.cli.quick import main

if __name__ == "__main__":
    main()
