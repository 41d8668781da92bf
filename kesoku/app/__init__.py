"""The composition root: the only place that wires rooms together."""

from kesoku.app.app import App, Job
from kesoku.app.place import Place

__all__ = ["App", "Job", "Place"]
