"""Arguments over several lines are what the standard library writes."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kesoku.messages.freeze import FrozenDict
from kesoku.messages.indented import indented

simple = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(simple, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


@given(st.dictionaries(st.text(), simple) | st.dictionaries(st.text(), values, max_size=3))
def test_it_writes_what_json_writes(arguments: dict[str, Any]) -> None:
    assert indented(FrozenDict(arguments)) == json.dumps(arguments, indent=2, ensure_ascii=False)
