"""The root of the error tree."""


class KesokuError(Exception):
    """Anything that Kesoku raises on purpose."""
