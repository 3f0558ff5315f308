"""Any source of rows to reduced profiles: where the rows come from decides who adds them up."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from calibcore.checks import listing
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io.batch_notes import counted_on
from calibcore.io.columns import Table
from calibcore.io.containers import named, no_frame, path_tables
from calibcore.io.file_sources import Files, file_source
from calibcore.io.labels import NO_CLASS
from calibcore.io.mapping import Mapping
from calibcore.io.row_sums import RowSums
from calibcore.io.several_files import alike
from calibcore.io.sources import NotNumbers, Source, frame_source, table_source, together
from calibcore.io.streams import MANY_ROWS_A_CASE, NO_CLUSTERS, Plan, reduced
from calibcore.names import told_apart
from calibcore.predictions import Predictions
from calibcore.profile import Profile
from calibcore.progress import Heard

__all__ = ["ENGINES", "Engine", "reduce", "reduce_models"]

Engine = Literal["arrow", "spark", "dask"]
ENGINES = ("arrow", "spark", "dask")
_MAX_WHOLE = 2 << 30  # bytes of files that are read whole where batches cannot be told apart


def reduce(  # noqa: PLR0913 - what rows and their source can need
    source: Any,
    *,
    mapping: Mapping | None = None,
    view: str | None = None,
    name: str | None = None,
    engine: Engine | None = None,
    master: str | None = None,
    progress: Heard | None = None,
) -> Profile:
    """The reduced profile of one view of a model, whose rows may be more than fit into memory.

    Parameters
    ----------
    source : path, list of paths, data frame, or Arrow stream
        As `reduce_models` takes it.
    mapping : Mapping, optional
        What the columns mean, as far as it should not be detected.
    view : str, optional
        ``"top_label"`` (default), ``"positive"`` or ``"class:<name>"``.
    name : str, optional
        A name for messages, instead of the file's.
    engine, master, progress : optional
        As of `reduce_models`.

    Returns
    -------
    Profile
        At most 17,057 cells, however many rows; float16 probabilities keep a cell for each distinct value, so that every number is exact.
        It holds one view and no groups (``mapping.groups`` are left out): see `reduce_models`.

    Raises
    ------
    AmbiguousLayout, InputError
        As of `reduce_models`; and where the source holds several models.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"label": [0, 0, 1, 1], "probability": [0.1, 0.3, 0.6, 0.9]})
    >>> reduce(rows, view="positive")
    <Profile of the view 'positive': 4 rows in 4 cells, reduced>
    """
    mapping = replace(mapping or Mapping(), groups=())
    wanted = view or "top_label"
    found = reduce_models(source, mapping=mapping, views=(wanted,), name=name, engine=engine, master=master, progress=progress)
    if len(found) > 1:
        models = listing([m.name for m in found], 4)
        raise InputError(f"The source holds {len(found)} models ({models}). Take reduce_models, or name the columns of one.")
    return found[0].profile(wanted)


def reduce_models(  # noqa: PLR0913 - what rows and their source can need
    source: Any,
    *,
    mapping: Mapping | None = None,
    views: Sequence[str] | None = None,
    name: str | None = None,
    engine: Engine | None = None,
    master: str | None = None,
    progress: Heard | None = None,
) -> list[Predictions]:
    """Every model of a source, known from reduced profiles; the rows may be more than fit into memory.

    Parameters
    ----------
    source : path, list of paths, data frame, or Arrow stream
        Files of the same columns, a folder or a pattern such as ``"part-*.parquet"``: Parquet, Arrow (Feather) and plain delimited
        text pass in batches; what else `calibcore.read` reads, and files of several kinds, are read whole first.  Profile files in a
        folder are passed over.  Data frames of pandas, PySpark and Dask;
        anything that speaks the Arrow C stream or array interface, such as frames of polars, tables and readers of pyarrow,
        relations of DuckDB.  Or a tuple of two arrays, the labels and the probabilities.
    mapping : Mapping, optional
        What the columns mean, as far as it should not be detected; ``mapping.groups`` are kept, each group with its profiles.
    views : sequence of str, optional
        Views to keep: by default the top label, P(positive), and each of up to 20 classes.
    name : str, optional
        A name for the model, instead of the file's stem.
    engine : {"arrow", "spark", "dask"}, optional
        Who reads files: this process (default), Spark, or Dask.
    master : str, optional
        Where Spark runs, such as ``"local[2]"``.
    progress : callable, optional
        Called with the share of the work that is done, 0 to 1.

    Returns
    -------
    list of Predictions
        One for each model, without rows; `calibcore.write_profiles` saves them in one file.

    Raises
    ------
    AmbiguousLayout
        If the rows leave something open that must not be guessed.
    InputError
        If they cannot be used, saying which, counted from the first row of the first file; or if a label does not occur in the
        rows that are looked at first and these pass only once: then name all of them, ``mapping.classes``.

    Notes
    -----
    How the columns are read is settled by some tens of thousands of rows from all over the source.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"label": [0, 0, 1, 1], "probability": [0.1, 0.3, 0.6, 0.9], "site": list("abab")})
    >>> reduce_models(rows, mapping=Mapping(groups=("site",)), name="steady")
    [<Predictions of 'steady': binary, 4 rows, classes 0 and 1, reduced>]
    """
    mapping = mapping or Mapping()
    if mapping.pair:
        raise InputError("Rows are reduced from files that hold their labels; join a separate file of labels first (pair, --pair).")
    if engine is not None and engine not in ENGINES:
        raise InputError(f"engine must be one of {listing(ENGINES, 3)}; got {engine!r}.", value=engine, available=ENGINES)
    mapping = replace(mapping, groups=mapping.groups or ())
    files = Files.of(source) if _are_paths(source) else None
    found = _elsewhere(files or source, mapping, name, views, engine, master) or _here(files or source, mapping, name, views, progress)
    names = [m.name if name is None else name if len(found) == 1 else f"{name}: {m.name}" for m in found]
    more = files.notes if files else ()
    return [m.but(name=new, notes=(*m.notes, *more)) for m, new in zip(found, told_apart(names), strict=True)]


def _elsewhere(
    source: Any, mapping: Mapping, name: str | None, views: Sequence[str] | None, engine: str | None, master: str | None
) -> list[Predictions] | None:
    """The models of a cluster's frame or of files that a cluster reads; None of others."""
    kind = type(source).__module__.partition(".")[0]
    about: dict[str, Any] = {"name": name or "data frame", "views": views}
    if kind == "pyspark":
        return list(_cluster("spark").reduced_spark(source, mapping, **about))
    if kind.startswith("dask"):
        return list(_cluster("dask_frames").reduced_dask(source, mapping, **about))
    if engine not in ("spark", "dask"):
        return None
    if not isinstance(source, Files):
        raise InputError(f"The engine {engine!r} reads files; give paths, or a frame of its own without an engine.")
    files, about["name"] = [str(p) for p in source.paths], name or source.name
    if engine == "spark":
        return list(_cluster("spark").reduced_spark_paths(files, mapping, master=master, **about))
    return list(_cluster("dask_frames").reduced_dask_paths(files, mapping, **about))


def _cluster(module: str) -> Any:
    """What speaks to a cluster, loaded when it is needed."""
    return import_module(f"calibcore.io.{module}")


def _are_paths(source: Any) -> bool:
    ones = source if isinstance(source, (list, tuple)) else [source]
    return all(isinstance(one, (str, os.PathLike)) for one in ones)


def _here(source: Any, mapping: Mapping, name: str | None, views: Sequence[str] | None, heard: Heard | None) -> list[Predictions]:
    """The models of a source that this process reads."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _whole(source, mapping, views, heard)
    if isinstance(source, tuple) and len(source) == 2:
        return _added([Predictions.from_arrays(*source, name=name)], views)
    if not isinstance(source, Files):
        if not any(hasattr(source, mark) for mark in ("iloc", "__arrow_c_stream__", "__arrow_c_array__")):
            raise no_frame(source, "reduced", "a path, a list of paths, a data frame or an Arrow stream")
        return _streamed(frame_source(source, name or "data frame"), mapping, views, heard)
    paths, stem = source.paths, source.name
    found = file_source(paths, stem)
    if found is None and len(paths) == 1:
        return _whole(paths[0], mapping, views, heard)
    try:
        return _streamed(found or _in_memory(paths, stem), mapping, views, heard)
    except InputError as error:
        if error.rule != MANY_ROWS_A_CASE or len(paths) > 1 or paths[0].stat().st_size > _MAX_WHOLE:
            raise
    return _whole(paths[0], mapping, views, heard)


def _whole(source: Any, mapping: Mapping, views: Sequence[str] | None, heard: Heard | None) -> list[Predictions]:
    """The models of a source that `calibcore.read` reads."""
    from calibcore.io import read

    return _added(read(source, mapping=mapping, progress=heard), views)


def _added(models: Sequence[Predictions], views: Sequence[str] | None) -> list[Predictions]:
    sums = RowSums(views)
    for model in models:
        if model.cluster is not None:
            raise InputError(NO_CLUSTERS)
        sums.add(model)
    return sums.models()


def _in_memory(paths: Sequence[Path], name: str) -> Source:
    """The rows of several files of which each is read whole, with a table each."""
    tables: list[Table] = []
    for path in paths:
        found = path_tables(path)
        if len(found) > 1:
            raise InputError(f"{path.name} holds {len(found)} tables. Of several files each must hold one; reduce this one alone.")
        tables += found
    return table_source(together(alike(paths, tables)), name=name)


def _streamed(source: Source, mapping: Mapping, views: Sequence[str] | None, heard: Heard | None) -> list[Predictions]:
    """The models of rows that come in batches; where a label turns up that the sample lacks, the sample gets it and they come again."""
    lacking = source.constant() if source.again and (source.n_rows is None or source.n_rows > len(source.sample)) else []
    source = source.widened(lacking) if lacking else source
    try:
        return _passed(source, _plan(source, mapping, views), heard)
    except InputError as error:
        if error.rule != NO_CLASS or error.column is None or error.column not in source.sample.column_names:
            raise
        if not source.again:
            raise _unseen(error, source) from None
        wider = source.widened([error.column])
        if wider is source:
            raise
    return _passed(wider, _plan(wider, mapping, views), heard)


def _unseen(error: InputError, source: Source) -> InputError:
    """For a label that turns up in a stream that cannot be had again."""
    text = (
        f"{source.name}: label {error.value!r} (row {error.row:,} of column {error.column!r}) does not occur in the first "
        f"{len(source.sample):,} rows, by which the classes were told. Name all classes in their order with classes (--classes)."
    )
    return InputError(text, rule=error.rule, value=error.value, row=error.row, column=error.column, available=error.available)


def _plan(source: Source, mapping: Mapping, views: Sequence[str] | None) -> Plan:
    try:
        return Plan.of(source.sample, mapping, name=source.name, views=views, index=source.index)
    except AmbiguousLayout as ambiguous:
        raise AmbiguousLayout([replace(q, text=source.told(q.text)) for q in ambiguous.questions], source=source.name) from None
    except InputError as error:
        raise _placed(error, source) from None


def _placed(error: InputError, source: Source) -> InputError:
    """A fault of the sample, with the row that it has in the source."""
    if error.row is None:
        return named(error, source.name)
    text = f"{source.name}: {counted_on(str(error), source.row)}"
    row: int | None = source.row(error.row)
    if not source.places:
        text, row = f"{source.name}, in a sample of {len(source.sample):,} rows from all over it: {error}", None
    return InputError(text, rule=error.rule, value=error.value, row=row, column=error.column, available=error.available)


def _passed(source: Source, plan: Plan, heard: Heard | None) -> list[Predictions]:
    """The models; columns of texts are numbers from the start, where all of their cells are."""
    roles = {c for u in plan.reading.units for c in u.columns} | {plan.reading.weight}
    for numbers in (tuple(c for c in source.numbers if c in roles), ()):
        try:
            return reduced(plan, _heard(source.batches(plan.columns, numbers), source, heard), part=False, expected=source.n_rows or 0)
        except NotNumbers:
            continue
    raise AssertionError


def _heard(batches: Any, source: Source, heard: Heard | None) -> Iterator[Any]:
    """The batches; whoever listens is told how far they are."""
    rows = 0
    for batch in batches:
        yield batch
        rows += len(batch)
        share = source.done(rows) if heard else None
        if heard and share is not None:
            heard(share)
