"""The REST interface: routes, what they do, and how often they may be asked."""
