"""Where the process begins: next to nothing is imported before Ctrl-C is caught."""

_INTERRUPTED = 130  # `Exit.INTERRUPTED`, which may not be imported yet


def run() -> None:
    """Entry point of the `kesoku` command. Raises SystemExit with its exit code."""
    try:
        from kesoku.cli.main import run as command

        command()
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None
