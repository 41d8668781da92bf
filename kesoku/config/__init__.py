"""Configuration: TOML and environment through one validator (N-16)."""

from kesoku.config.load import Loaded, load
from kesoku.config.problem import Problem
from kesoku.config.schema import Config, Entry

__all__ = ["Config", "Entry", "Loaded", "Problem", "load"]
