"""Tables and progress on a terminal; the same as plain text where the output is piped."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from calibcore.report.tables import Table, transposed

__all__ = ["rendered", "tracked", "waiting"]

T = TypeVar("T")
_WIDE = 100_000  # columns of a pipe: nothing is cut or wrapped


def rendered(blocks: Iterable[Table | str]) -> str:
    """Blocks as the text to write to stdout: coloured and wrapped on a terminal, one line a row elsewhere."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    with console.capture() as captured:
        for block in blocks:
            if isinstance(block, str):
                console.print(Text(block), soft_wrap=not console.is_terminal)
            else:
                console.print(_fitting(block, console))
                if not console.is_terminal:  # the box of a terminal ends with an empty line of its own
                    console.print()
    return "".join(f"{line.rstrip()}\n" for line in captured.get().split("\n")[:-1])


def _fitting(table: Table, console: Any) -> Any:
    """The table, turned on its side where the terminal is too narrow for it and that makes it narrower."""
    made, turned = _grid(table, plain=not console.is_terminal), _grid(transposed(table), plain=False)
    natural, other = (console.measure(t, options=console.options.update(width=_WIDE)).maximum for t in (made, turned))
    return made if natural <= max(console.width, other) else turned


def _grid(table: Table, *, plain: bool) -> Any:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None if plain else box.SIMPLE_HEAD, pad_edge=not plain, padding=(0, 2, 0, 0) if plain else (0, 1))
    for name in table.header:
        grid.add_column(Text(name))
    for row in table.rows:
        grid.add_row(*map(Text, row))
    return grid


def tracked(items: Sequence[T], what: str) -> Iterator[T]:
    """The items one by one, with a bar on stderr where that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, console=Console(stderr=True), transient=True)


def waiting(what: str) -> AbstractContextManager[Any]:
    """A sign of life on stderr, where that is a terminal, until the work is done."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)
