"""Reduced profiles of Dask data frames: every partition is reduced where it is, and a tree of sums adds the cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calibcore.errors import InputError
from calibcore.io.cell_table import summed
from calibcore.io.containers import frame_arrow
from calibcore.io.handed_over import EACH, SAMPLE, Clustered, handed_over
from calibcore.io.mapping import Mapping
from calibcore.io.parted_files import RAGGED, Parted
from calibcore.io.streams import Plan
from calibcore.predictions import Predictions

__all__ = ["reduced_dask", "reduced_dask_paths"]

_BRANCHES = 16  # cell tables that are added at once
_LOOKED_AT = 3  # partitions that the sample is taken from
_START = 1 << 16  # bytes that tell how a text is written


def reduced_dask(
    frame: Any, mapping: Mapping | None = None, *, name: str = "data", views: Sequence[str] | None = None
) -> list[Predictions]:
    """The models in a Dask data frame, each known from reduced profiles; no rows leave the workers but a small sample.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    mapping, name, views
        As of `calibcore.io.handed_over.Clustered.models`.

    Raises
    ------
    AmbiguousLayout, InputError
        As there.

    Notes
    -----
    The sample is the beginning of the first, the middle and the last partition, which are therefore computed twice.
    """
    return _clustered(frame if frame.index.name is None else frame.reset_index()).models(mapping, name, views)


def _clustered(frame: Any) -> Clustered:
    """A data frame as the driver deals with it."""
    from dask import compute, delayed

    column = {str(c): c for c in frame.columns}

    def cells(plan: Plan) -> Any:
        used = frame[[column[c] for c in plan.columns]] if set(plan.columns) <= set(column) else frame
        tables = [delayed(_cells)(plan, part, i) for i, part in enumerate(used.to_delayed())]
        while len(tables) > 1:
            tables = [delayed(_added)(tables[i : i + _BRANCHES]) for i in range(0, len(tables), _BRANCHES)]
        return tables[0].compute()

    def with_each(name: str) -> Any:
        return _arrow(_each(_together(compute(*(delayed(_each)(part, column[name]) for part in frame.to_delayed()))), column[name]))

    return Clustered(_arrow(_sample(frame)), cells, with_each)


def _sample(frame: Any) -> Any:
    """The first rows of some partitions that lie far apart; of all where these are empty."""
    from dask import compute, delayed

    last = frame.npartitions - 1
    some = sorted({last * i // (_LOOKED_AT - 1) for i in range(_LOOKED_AT)})
    for places in (some, range(last + 1)):
        rows = SAMPLE // len(places) + 1
        found = _together(compute(*(delayed(_first)(part, rows) for i in places for part in frame.partitions[i].to_delayed())))
        if len(found):
            return found
    return found


def _first(part: Any, rows: int) -> Any:
    return part.iloc[:rows]


def _each(part: Any, column: Any) -> Any:
    """A row with each value of a column."""
    return part.drop_duplicates(subset=[column]).iloc[:EACH]


def _together(parts: Sequence[Any]) -> Any:
    import pandas as pd

    return pd.concat([p for p in parts if len(p)] or parts[:1], ignore_index=True)


def _arrow(rows: Any) -> Any:
    return frame_arrow(rows)[0]


def _cells(plan: Plan, part: Any, number: int) -> Any:
    """What one partition, a pandas data frame, hands over; runs on a worker."""
    return handed_over(plan, [_arrow(part.reset_index(drop=True))], number)


def _added(tables: list[Any]) -> Any:
    import pyarrow as pa

    return summed(pa.concat_tables(tables))


def reduced_dask_paths(
    paths: Sequence[Any], mapping: Mapping | None = None, *, name: str = "data", views: Sequence[str] | None = None
) -> list[Predictions]:
    """The models in files or folders of Parquet or delimited text that Dask's workers can reach, all with the same columns.

    Parameters
    ----------
    paths : sequence of str or path
    mapping, name, views
        As for `reduced_dask`.

    Raises
    ------
    AmbiguousLayout, InputError
        As `reduced_dask`; and if Dask is not installed, or finds no such files.
    """
    frame = _opened([str(p) for p in paths], name)
    from pandas.errors import ParserError

    try:
        return reduced_dask(frame, mapping, name=name, views=views)
    except ParserError:
        raise InputError(RAGGED) from None


def _opened(paths: list[str], name: str) -> Any:
    """The files as a data frame: Parquet with its types, text as it is written."""
    try:
        import dask.dataframe as dd
        from fsspec.core import get_fs_token_paths
    except ImportError:
        raise InputError('Reducing on Dask needs Dask, which is not installed: python -m pip install "calibcore[dask]"') from None
    system, _, found = get_fs_token_paths(paths)
    files = [file for path in found for file in (_inside(system, path) if system.isdir(path) else [path])]
    if not files or not system.exists(files[0]):
        raise InputError(f"There are no files at {', '.join(paths)}.")
    with system.open(files[0], compression="infer") as file:
        start = file.read(_START).decode(errors="replace")
    parted = Parted.of(start, name)
    if parted is None:
        return dd.read_parquet(paths[0] if len(paths) == 1 else files, dtype_backend="pyarrow")
    packed = {"blocksize": None} if any(f.endswith(".gz") for f in files) else {}
    text = {"dtype": str, "keep_default_na": False, "na_values": [""], "sep": parted.separator}
    return parted.checked(dd.read_csv([system.unstrip_protocol(f) for f in files], **text, **packed))


def _inside(system: Any, folder: str) -> list[str]:
    """The files of a folder, without those that only say that it is complete."""
    return [f for f in sorted(system.find(folder)) if not f.rpartition("/")[2].startswith(("_", "."))]
