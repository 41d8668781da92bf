"""Event hooks: what stands in `[[hooks]]` is told of what happens to messages, after it is stored.

Not to be confused with the hooks of `kesoku.agent.hook`, which take part in a turn before each step. An event hook is a
reader of the event log with a durable cursor: it can be late or broken, and costs no answer (C-20).
"""
