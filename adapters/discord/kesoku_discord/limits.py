"""What Discord takes."""

MAX_TEXT = 2000
"""Characters of one message, counted as UTF-16 units to be on the safe side."""
MAX_FILE = 10 * 1024 * 1024
"""Bytes of one file where nobody pays for more."""
