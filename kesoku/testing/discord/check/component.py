"""What buttons, menus and their rows may be."""

from typing import Any

from kesoku.testing.discord.error import Faults
from kesoku.testing.discord.world.entity import Json

ROW, BUTTON, TEXT_SELECT, LINK = 1, 2, 3, 5
_SELECTS = (3, 5, 6, 7, 8)
_NESTING = (1, 9, 17)
_ROWS, _BUTTONS, _OPTIONS, _CUSTOM_ID, _LABEL, _OPTION, _PLACEHOLDER = 5, 5, 25, 100, 80, 100, 150
_SECOND_COUNT, _SECOND_TEXT = 40, 4000


def check_components(components: Any, faults: Faults, *, second: bool = False) -> None:
    """Note what is wrong with the components of a message; with `second` they are of version 2."""
    if not components:
        return
    if not isinstance(components, list):
        faults.add("components", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
        return
    ids: set[str] = set()
    if second:
        _check_second(components, ids, faults)
        return
    if len(components) > _ROWS:
        faults.add("components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {_ROWS} in length.")
    for number, row in enumerate(components):
        _check_row(row, f"components.{number}", ids, faults)


def walk(components: list[Json]) -> list[Json]:
    """All components, also those within others."""
    found = []
    for each in components:
        found.append(each)
        found += walk(each.get("components") or [])
        if accessory := each.get("accessory"):
            found.append(accessory)
    return found


def _check_second(components: list[Json], ids: set[str], faults: Faults) -> None:
    flat = walk(components)
    if len(flat) > _SECOND_COUNT:
        faults.add("components", "BASE_TYPE_MAX_LENGTH", f"Must be {_SECOND_COUNT} or fewer in length.")
    if sum(len(each.get("content") or "") for each in flat if each.get("type") == 10) > _SECOND_TEXT:
        faults.add("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", f"More than {_SECOND_TEXT} characters.")
    for number, each in enumerate(flat):
        if each.get("type") == ROW:
            _check_row(each, f"components.{number}", ids, faults)


def _check_row(row: Any, path: str, ids: set[str], faults: Faults) -> None:
    if not isinstance(row, dict) or row.get("type") != ROW:
        faults.add(f"{path}.type", "BASE_TYPE_CHOICES", f"Value must be one of {{{ROW}}}.")
        return
    inside = row.get("components")
    if not isinstance(inside, list) or not 1 <= len(inside) <= _BUTTONS:
        faults.add(f"{path}.components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {_BUTTONS} in length.")
        return
    for number, each in enumerate(inside):
        at = f"{path}.components.{number}"
        kind = each.get("type") if isinstance(each, dict) else None
        if kind == BUTTON:
            _check_button(each, at, ids, faults)
        elif kind in _SELECTS:
            _check_select(each, at, ids, faults)
            if len(inside) > 1:
                message = "The specified component exceeds the maximum width"
                faults.add(at, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", message)
        else:
            faults.add(f"{at}.type", "BASE_TYPE_CHOICES", f"Value must be one of {(BUTTON, *_SELECTS)}.")


def _check_button(button: Json, path: str, ids: set[str], faults: Faults) -> None:
    style = button.get("style")
    if style not in range(1, 6):
        faults.add(f"{path}.style", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5).")
    if button.get("label") is not None:
        faults.length(f"{path}.label", button["label"], 0, _LABEL)
    if not button.get("label") and not button.get("emoji"):
        faults.add(path, "BUTTON_COMPONENT_INVALID_CONTENT", "A button must have a label or an emoji.")
    if style != LINK:
        _check_id(button, path, ids, faults)
        if "url" in button:
            faults.add(path, "BUTTON_COMPONENT_CUSTOM_ID_AND_URL", "A custom id and url cannot both be specified")
    elif button.get("custom_id") or not str(button.get("url")).startswith(("http://", "https://", "discord://")):
        faults.add(f"{path}.url", "BASE_TYPE_REQUIRED", "A link has a url and no custom id.")
    if not isinstance(button.get("disabled", False), bool):
        faults.add(f"{path}.disabled", "BOOLEAN_TYPE_CONVERT", "Must be either true or false.")


def _check_id(component: Json, path: str, ids: set[str], faults: Faults) -> None:
    custom_id = component.get("custom_id")
    if custom_id is None:
        faults.add(f"{path}.custom_id", "BASE_TYPE_REQUIRED", "This field is required")
        return
    faults.length(f"{path}.custom_id", custom_id, 1, _CUSTOM_ID)
    if custom_id in ids:
        faults.add(path, "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
    ids.add(str(custom_id))


def _check_select(select: Json, path: str, ids: set[str], faults: Faults) -> None:
    _check_id(select, path, ids, faults)
    if select.get("placeholder") is not None:
        faults.length(f"{path}.placeholder", select["placeholder"], 0, _PLACEHOLDER)
    low, high = select.get("min_values", 1), select.get("max_values", 1)
    options = select.get("options")
    most = _OPTIONS
    if select["type"] == TEXT_SELECT:
        if not isinstance(options, list) or not 1 <= len(options) <= _OPTIONS:
            faults.add(f"{path}.options", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {_OPTIONS} in length.")
            return
        _check_options(options, path, faults)
        most = len(options)
    if not (isinstance(low, int) and isinstance(high, int) and 0 <= low <= high and 1 <= high <= most):
        faults.add(f"{path}.max_values", "BASE_TYPE_BAD_LENGTH", f"Must be between {low} and {most}.")


def _check_options(options: list[Any], path: str, faults: Faults) -> None:
    values: set[str] = set()
    for number, option in enumerate(options):
        at = f"{path}.options.{number}"
        if not isinstance(option, dict):
            faults.add(at, "MODEL_TYPE_CONVERT", "Only dictionaries may be used.")
            continue
        faults.length(f"{at}.label", option.get("label"), 1, _OPTION)
        faults.length(f"{at}.value", option.get("value"), 1, _OPTION)
        if option.get("description") is not None:
            faults.length(f"{at}.description", option["description"], 0, _OPTION)
        if option.get("value") in values:
            faults.add(f"{at}.value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is used.")
        values.add(str(option.get("value")))
