"""Chat models behind the port `ChatModel`: one file or package a provider, and what providers share.

`manifest.py` is what a provider says about itself, behind an entry point of the group `kesoku.models`; `gemini` and
`offline.py` are built in. `retry.py` says when to ask again, `limiter.py` is the one door to a provider for all
processes of a key, `shared.py` the small facts that those share, `estimate.py` counts tokens without network.
"""
