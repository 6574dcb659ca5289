"""``python -m jobsight`` is the command ``jobsight``."""

from jobsight.cli.main import main

if __name__ == "__main__":
    main()
