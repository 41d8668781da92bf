"""How columns are written down: text, numbers, and the one collection of all tables."""

from sqlalchemy import Column, ColumnElement, ForeignKey, Integer, MetaData, Text, literal_column

METADATA = MetaData()
"""Every table of the schema; the modules `*_tables` beside this one fill it."""


def equals(column: ColumnElement[str], value: str) -> ColumnElement[bool]:
    """`column = 'value'` with the value as a literal, for words of our own: so a partial index is found, and the
    statement is planned once. What compares a parameter with the value of a partial index is planned at each run."""
    return column == literal_column(f"'{value}'")


def text_column(name: str, **options: object) -> Column[str]:
    """Text that must be there."""
    return Column(name, Text, nullable=False, **options)  # type: ignore[arg-type]


def optional_text(name: str, *rest: ForeignKey) -> Column[str | None]:
    """Text or NULL."""
    return Column(name, Text, *rest, nullable=True)


def number(name: str, **options: object) -> Column[int]:
    """A number that must be there."""
    return Column(name, Integer, nullable=False, **options)  # type: ignore[arg-type]
