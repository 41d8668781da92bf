"""Entry points of real distributions on a real path."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kesoku import plugins
from kesoku.errors import PluginBroken, PluginConflict, PluginError, PluginUnknown

GROUP = plugins.HOOKS
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a distribution with one module and its entry points in front of the path."""

    def put(name: str, source: str, *points: str) -> None:
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[{GROUP}]\n" + "\n".join(points))
        (tmp_path / f"{name}.py").write_text(source)
        monkeypatch.syspath_prepend(str(tmp_path))

    return put


def test_an_extension_is_imported_only_when_it_is_asked_for(install: Install) -> None:
    install("hook_lazy", "value = 42", "lazy = hook_lazy:value")
    assert plugins.names(GROUP) == ("lazy",)
    assert "hook_lazy" not in sys.modules
    assert plugins.find(GROUP, "lazy") == 42


def test_the_packages_of_all_extensions_are_named_without_an_import(install: Install) -> None:
    install("hook_deep", "", "deep = hook_deep.inside:value")
    assert {"kesoku_cli", "hook_deep"} <= plugins.packages()
    assert "hook_deep" not in sys.modules


@pytest.mark.parametrize(
    ("module", "source", "reason"),
    [
        ("hook_syntax", "def", "SyntaxError: "),
        ("hook_import", "import not_there_at_all", "ModuleNotFoundError: No module named 'not_there_at_all'"),
        ("hook_empty", "", "AttributeError: "),
        ("hook_raises", "1 / 0", "ZeroDivisionError: "),
        ("hook_exits", "import sys; sys.exit('bye')", "SystemExit: bye"),
    ],
)
def test_a_broken_one_is_named_and_stops_nobody(install: Install, module: str, source: str, reason: str) -> None:
    install("hook_sound", "value = 1", "sound = hook_sound:value")
    install(module, source, f"broken = {module}:value")
    errors: list[PluginError] = []
    assert plugins.load(GROUP, errors.append) == {"sound": 1}
    (error,) = errors
    assert isinstance(error, PluginBroken)
    assert error.reason.startswith(reason)
    assert error.distribution == f"{module} 1.0"
    assert (error.group, error.name, error.target) == (GROUP, "broken", f"{module}:value")
    with pytest.raises(PluginBroken, match=f"from {module} 1.0"):
        plugins.find(GROUP, "broken")
    sys.modules.pop("hook_sound")


def test_an_extension_of_the_wrong_class_is_broken(install: Install) -> None:
    install("hook_sound", "value = 1", "sound = hook_sound:value")
    assert plugins.find_instance(GROUP, "sound", int) == 1
    with pytest.raises(PluginBroken, match="it must be a str; repair or uninstall hook_sound"):
        plugins.find_instance(GROUP, "sound", str)


def test_without_a_report_a_failure_is_logged(install: Install, caplog: pytest.LogCaptureFixture) -> None:
    install("hook_logged", "1 / 0", "logged = hook_logged:value")
    with caplog.at_level(logging.WARNING):
        assert plugins.load(GROUP) == {}
    assert "'logged' in kesoku.hooks (hook_logged:value, from hook_logged 1.0)" in caplog.text


def test_one_name_from_two_distributions_is_taken_from_neither(install: Install) -> None:
    install("hook_first", "value = 1", "same = hook_first:value")
    install("hook_second", "value = 2", "same = hook_second:value", "other = hook_second:value")
    errors: list[PluginError] = []
    assert plugins.load(GROUP, errors.append) == {"other": 2}
    (error,) = errors
    assert isinstance(error, PluginConflict)
    assert error.distributions == ("hook_first 1.0", "hook_second 1.0")


def test_an_unknown_name_is_answered_with_the_known_ones(install: Install) -> None:
    with pytest.raises(PluginUnknown, match=r"installed are \(none\)"):
        plugins.find(GROUP, "nothing")
    install("hook_known", "value = 1", "known = hook_known:value")
    with pytest.raises(PluginUnknown, match=r"offers .knwon. in kesoku\.hooks; installed are known"):
        plugins.find(GROUP, "knwon")
