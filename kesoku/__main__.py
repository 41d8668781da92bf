"""`python -m kesoku` is `kesoku`."""

from kesoku.cli.entry import run

if __name__ == "__main__":
    run()
