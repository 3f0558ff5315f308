"""Code and command lines that give the numbers on screen again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from calibcore.analysis import Analysis, Comparison, Settings
from calibcore.io.mapping import Mapping as Roles
from calibcore.names import told_apart
from calibcore.options import mapping_arguments, settings_arguments
from calibcore.report.tables import plain
from calibcore.version import __version__

__all__ = ["Commands", "Origin", "Source", "added_by_commands", "commands", "grouped_by", "mistakable", "python_code"]

_ALONE = "The command line judges recalibrations of all classes; for the confidence alone take the Python code."
_DIFFERENT = "One command reads all its files with the same answers, and these have different ones; take the Python code."


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Files that were read together, and how.

    Attributes
    ----------
    files : tuple of str
        Names; of predictions and labels in separate files, the predictions first.
    mapping : Mapping
        The answers they were read with.
    models : tuple of str
        Names of all models in them, as they were read.
    sample : bool
        Whether this is a bundled sample.
    sha256 : str, optional
        Of the predictions.
    """

    files: tuple[str, ...]
    mapping: Roles
    models: tuple[str, ...]
    sample: bool = False
    sha256: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where a model comes from: the ``index``-th of a source; ``alone`` where only its confidence is looked at."""

    source: Source
    index: int = 0
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Commands:
    """Lines for a shell, none where no command gives these numbers, and what must be known about them."""

    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        """The lines, one below the other."""
        return "\n".join(self.lines)


def grouped_by(origin: Origin, columns: Sequence[str]) -> Origin:
    """The same model, read with these columns as its groups and no others."""
    return replace(origin, source=replace(origin.source, mapping=replace(origin.source.mapping, groups=tuple(columns))))


def added_by_commands(origin: Origin, *, timed: bool) -> tuple[str, ...]:
    """What ``calibcore measure`` computes unasked: groups where they are named, periods where the rows have times."""
    return (*(("groups",) if origin.source.mapping.groups else ()), *(("periods",) if timed else ()))


def python_code(results: Comparison | Sequence[Analysis], origins: Mapping[str, Origin]) -> str:
    """A script that prints what `calibcore.report.exports.results_json` gives for these results.

    Parameters
    ----------
    results : Comparison or sequence of Analysis
        Under the same settings.
    origins : mapping of model name to Origin
        For every model in the results.
    """
    analyses = _analyses(results)
    sources = _sources(analyses, origins)
    lines = [f"# The same numbers, with calibcore {__version__}; run it in the folder that holds the files."]
    lines += [f"# A sample file: {line}" for line in _sample_lines(sources)]
    lines += ["import calibcore as cc"]
    lines += ["from calibcore.advice.recalibration import confidence_only"] * any(origins[a.name].alone for a in analyses)
    lines += ["from calibcore.report.exports import results_json", ""]
    lines += ["settings = cc.Settings(", *(f"    {k}={_literal(v)}," for k, v in _settings(analyses[0].settings).items()), ")"]
    for i, source in enumerate(sources):
        about = f"  # SHA-256 {source.sha256}" if source.sha256 else ""
        lines.append(f"file_{i + 1} = {_read(source)}{about}")
    lines += ["models = [", *(f"    {_model(a, origins[a.name], sources)}," for a in analyses), "]"]
    if isinstance(results, Comparison):
        found = f"cc.compare(models, settings, baseline={_literal(results.baseline)})"
    else:
        found = "[cc.analyze(model, settings) for model in models]"
    return "\n".join([*lines, f"print(results_json({found}))", ""])


def mistakable(results: Comparison | Sequence[Analysis], origins: Mapping[str, Origin]) -> str | None:
    """Why code would read the wrong file: two files of one name; None where each name means one file."""
    contents: dict[str, set[str | None]] = {}
    for source in _sources(_analyses(results), origins):
        for name in source.files:
            contents.setdefault(name, set()).add(source.sha256)
    twice = next((name for name, found in contents.items() if len(found) > 1), None)
    if twice is None:
        return None
    return f"Two different files are called {plain(twice)}, so code cannot tell them apart. Give each a name of its own and add them again."


def commands(results: Comparison | Sequence[Analysis], origins: Mapping[str, Origin]) -> Commands:
    """Command lines for a POSIX shell that print the JSON of these results.

    Parameters
    ----------
    results : Comparison or sequence of Analysis
        Under the same settings.
    origins : mapping of model name to Origin
        For every model in the results.

    Returns
    -------
    Commands
        Of a measurement one line for all files with the same answers; of a comparison one line.  No lines, and the reason,
        where the options cannot say it.
    """
    analyses = _analyses(results)
    if any(origins[a.name].alone for a in analyses):
        return Commands(notes=(_ALONE,))
    sources = _sources(analyses, origins)
    together: dict[tuple[str, ...], list[Source]] = {}
    for source in sources:
        read_by = _reading(source)
        if read_by is None:
            return Commands(notes=(f"No options of the command line say how {source.files[0]} was read; take the Python code.",))
        together.setdefault(tuple(read_by), []).append(source)
    compared = isinstance(results, Comparison)
    if compared and len(together) > 1:
        return Commands(notes=(_DIFFERENT,))
    viewing = settings_arguments(analyses[0].settings)
    lines = list(_sample_lines(sources))
    for options, mine in together.items():
        baseline = ["--baseline", _named(mine, origins[results.baseline])] if isinstance(results, Comparison) else []
        arguments = ["compare" if compared else "measure", *(_path(s.files[0]) for s in mine), *options, *viewing, *baseline]
        lines.append(" ".join(["calibcore", *map(_quoted, arguments), "--format", "json"]))
    return Commands(tuple(lines), _notes(analyses, origins, sources))


def _analyses(results: Comparison | Sequence[Analysis]) -> Sequence[Analysis]:
    return results.analyses if isinstance(results, Comparison) else results


def _sources(analyses: Iterable[Analysis], origins: Mapping[str, Origin]) -> list[Source]:
    """Each source once, in the order of the results."""
    return list({id(s): s for s in (origins[a.name].source for a in analyses)}.values())


def _sample_lines(sources: Iterable[Source]) -> list[str]:
    names = [s.files[0] for s in sources if s.sample]
    return [f"calibcore sample {_quoted(name.removesuffix('.csv'))} -o {_quoted(name)}" for name in names]


# --- Python ---


def _read(source: Source) -> str:
    files = _literal(source.files[0]) if len(source.files) == 1 else f"[{', '.join(map(_literal, source.files))}]"
    said = {f.name: v for f in fields(source.mapping) if (v := getattr(source.mapping, f.name)) != f.default}
    return f"cc.read({files}, mapping={_call('cc.Mapping', said)})" if said else f"cc.read({files})"


def _settings(s: Settings) -> dict[str, Any]:
    """What these settings say; defaults too, so that no later default changes them."""
    found = {f.name: getattr(s, f.name) for f in fields(s)}
    if s.edges is not None:
        del found["strategy"]  # follows from the edges
    return {k: v for k, v in found.items() if v not in (None, ())}


def _model(a: Analysis, origin: Origin, sources: Sequence[Source]) -> str:
    number = next(i for i, s in enumerate(sources) if s is origin.source)
    text = f"file_{number + 1}[{origin.index}]"
    if origin.source.models[origin.index] != a.name:
        text = f"{text}.but(name={_literal(a.name)})"
    return f"confidence_only({text})" if origin.alone else text


def _call(name: str, said: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{k}={_literal(v)}' for k, v in said.items())})"


def _literal(value: Any) -> str:
    """Python source: `repr` of plain data also spells out signs that a terminal takes for a command or that turn the text round."""
    return repr(dict(value)) if isinstance(value, Mapping) else repr(value)


# --- the shell ---


def _reading(source: Source) -> list[str] | None:
    """Options that read a source; None where there are none."""
    options = mapping_arguments(source.mapping)
    if options is None or len(source.files) > 2:
        return None
    return [*options, *(("--labels-file", _path(source.files[1])) if len(source.files) == 2 else ())]


def _named(sources: Sequence[Source], origin: Origin) -> str:
    """What the command line calls a model when it reads these sources."""
    models = [(s, i) for s in sources for i in range(len(s.models))]
    names = told_apart([s.models[i] for s, i in models])
    return next(n for n, (s, i) in zip(names, models, strict=True) if s is origin.source and i == origin.index)


def _notes(analyses: Sequence[Analysis], origins: Mapping[str, Origin], sources: Sequence[Source]) -> tuple[str, ...]:
    chosen = {(id(origins[a.name].source), origins[a.name].index) for a in analyses}
    more = [m for s in sources for i, m in enumerate(s.models) if (id(s), i) not in chosen]
    if not more:
        return ()
    listed = ", ".join(map(plain, more[:6])) + (", …" if len(more) > 6 else "")
    return (f"It also prints the other models in the file{'s' if len(sources) > 1 else ''}: {listed}.",)


def _path(name: str) -> str:
    """A file name that is no option."""
    return f"./{name}" if name.startswith("-") else name


def _quoted(text: str) -> str:
    """One word of a shell; control characters are spelt out, so that pasting runs nothing (bash, zsh, ksh)."""
    if plain(text) == text:
        return shlex.quote(text)
    return "$'" + "".join(_spelt(c) for c in text) + "'"


def _spelt(character: str) -> str:
    if character in "'\\":
        return f"\\{character}"
    if plain(character) == character:
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
