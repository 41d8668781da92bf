"""A loopback Discord in a process of its own, and how it is told what to do."""
