"""SQL that is written as SQLAlchemy Core, compiled once when it is first run, and then only text."""

from functools import cached_property
from typing import Any

from sqlalchemy import BindParameter, Table, bindparam
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.sql import ClauseElement

DIALECT = SQLiteDialect_pysqlite(paramstyle="named")


class Statement:
    """One statement with named parameters. `bulky` says that its parameters count for the size of a group."""

    def __init__(self, clause: ClauseElement, *, bulky: bool = False) -> None:
        self._clause = clause
        self.bulky = bulky

    @cached_property
    def _compiled(self) -> Any:
        return self._clause.compile(dialect=DIALECT)

    @cached_property
    def sql(self) -> str:
        """The text that SQLite gets."""
        return str(self._compiled)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Values that stand in the statement itself, among them the offset that the compiler puts beside a limit."""
        return {name: each.effective_value for name, each in self._compiled.binds.items() if not each.required}


def param(name: str) -> BindParameter[Any]:
    """A named parameter."""
    return bindparam(name, required=True)


def insert_into(table: Table, *but: str) -> Insert:
    """INSERT of all columns of a table except `but`, each from the parameter of its name."""
    return insert(table).values({column.name: param(column.name) for column in table.c if column.name not in but})
