"""No adapter is installed that does not keep the contract."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from kesoku.testing.adapter_contract import AdapterContract, without_contract


def contracts() -> Iterator[type[AdapterContract]]:
    """The classes of `tests/adapters/<name>/test_contract.py`."""
    for file in Path(__file__).parent.glob("*/test_contract.py"):
        spec = importlib.util.spec_from_file_location(f"tests.adapters.{file.parent.name}.test_contract", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, AdapterContract) and each is not AdapterContract:
                yield each


def test_every_installed_adapter_keeps_the_contract() -> None:
    found = list(contracts())
    assert found, "no contract class was found at all"
    assert without_contract(found) == []
