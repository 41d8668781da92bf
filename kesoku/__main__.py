"""`python -m kesoku` is `kesoku`."""

from kesoku.cli.main import run

if __name__ == "__main__":
    run()
