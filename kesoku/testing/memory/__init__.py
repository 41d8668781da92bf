"""A store in memory: the fake of every store port, with the constraints and errors of the database."""

from kesoku.testing.memory.store import MemoryStore

__all__ = ["MemoryStore"]
