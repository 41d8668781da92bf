"""The Discord adapter. `manifest.py` and `config.py` load no SDK; `adapter.py` wires the rooms.

`wire` is the line to Discord, `inbound` what people write, `interaction` what they press and command, `drawing` how
things look. `doctor.py` looks for what is missing, with `permissions.py` and `login.py`; `people.py` says who people
are, `channels.py` where something is said, `snowflake.py` what ids mean. `library.py` has what discord.py does not
promise to keep.
"""
