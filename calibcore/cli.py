"""The command line: files and options in; a table, JSON, CSV or Markdown out; every fault is a sentence."""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from calibcore.analysis import Analysis, Comparison, Settings, analyze, compare, document
from calibcore.errors import AmbiguousLayout, InputError, Question
from calibcore.inference.labels import MultiLabel, multilabel
from calibcore.io import inspect, read
from calibcore.io.told import Told
from calibcore.names import told_apart
from calibcore.options import ADDING, BASELINE, LIMITS, READING, REDUCING, REPORTING, VIEWING, Option, left_out, mapping_of, settings_of
from calibcore.partition import Partition
from calibcore.predictions import Predictions
from calibcore.progress import Heard, bar, within
from calibcore.report import limits
from calibcore.report.blocks import layout_blocks, question_text, result_blocks
from calibcore.report.details import label_blocks
from calibcore.report.files import samples, write_file
from calibcore.report.making import make_report, report_ending, subject_first, time_hint
from calibcore.report.reductions import reduce_files
from calibcore.report.tables import plain, record_table, to_csv, to_markdown
from calibcore.report.terminal import rendered, tracked, waiting
from calibcore.version import __version__

__all__ = ["main"]

DONE, LIMIT_EXCEEDED, WRONG, ASKED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141
_NEEDED = ("click", "rich", "pandas", "pyarrow")
_NEEDED_BY_DASHBOARD = ("streamlit", "plotly")
_ABOUT = replace(BASELINE, help="Model that the report is about; the others are compared with it (default: the first).")


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a command has to say: exit code, text for stdout, lines for stderr."""

    code: int = DONE
    out: str = ""
    err: tuple[str, ...] = ()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; those of the process by default.

    Returns
    -------
    int
        0 done, 1 a check's limit is exceeded, 2 the input or the options are wrong, 3 a question must be answered, 130 interrupted.
    """
    _any_text(sys.stdout)
    _any_text(sys.stderr)
    arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    try:
        answer = _run(arguments)
        for line in answer.err:
            _tell(line)
        sys.stdout.write(answer.out)
        sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
        return PIPE_CLOSED
    return answer.code


def _run(arguments: list[str]) -> _Answer:
    """The answer to a command line, whatever happens."""
    missing = [n for n in _NEEDED if importlib.util.find_spec(n) is None]
    if missing:
        return _Answer(WRONG, err=(_install(missing),))
    from click import Abort

    try:
        answer = _application().main(arguments, "calibcore", standalone_mode=False)
    except (Abort, KeyboardInterrupt):
        return _Answer(INTERRUPTED)
    except SystemExit:  # how click leaves when nobody reads its help, and a server that cannot start
        return _Answer(WRONG)
    except Exception as error:  # noqa: BLE001 - no traceback reaches a user
        return _Answer(WRONG, err=(_sentence(error),))
    return answer if isinstance(answer, _Answer) else _Answer(int(answer or DONE))


def _sentence(error: Exception) -> str:
    from click import ClickException

    if isinstance(error, ClickException):
        return " ".join(error.format_message().split())
    return str(error) if isinstance(error, InputError) else _fault(error)


def _install(missing: Iterable[str]) -> str:
    return f'The command line needs {", ".join(missing)}: install with  python -m pip install "calibcore[dashboard]"'


def _fault(error: Exception) -> str:
    if os.environ.get("CALIBCORE_DEBUG"):
        traceback.print_exception(error)
    return f"calibcore has failed ({type(error).__name__}). Please report this with the traceback that CALIBCORE_DEBUG=1 shows."


def _any_text(stream: Any) -> None:
    """Let a stream take every character: UTF-8 into files and pipes, a substitute where a terminal has none."""
    if isinstance(stream, io.TextIOWrapper):
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _tell(line: str) -> None:
    sys.stderr.write(f"{plain(line)}\n")


def _close_stdout() -> None:
    """Nobody reads any more: keep Python from complaining when it flushes at the end."""
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


# --- commands and their options -----------------------------------------------------------------------------------------


def _application() -> Any:
    import click

    files = click.Argument(["files"], nargs=-1, required=True, metavar="FILE…")
    common = [files, *map(_click_option, READING)]
    looking = [*common, *map(_click_option, VIEWING)]
    viewing = [*looking, *map(_click_option, ADDING), _format_option("table", "json", "csv", "md")]
    reconcile = click.Option(["--reconcile"], is_flag=True, help="Add the ECE as other tools compute it, and why it differs.")
    where = click.Option(["-o", "target"], metavar="FILE", help="Where to write it.")
    test = click.Option(["--remedies"], is_flag=True, help="Test on held-out rows whether recalibration helps; takes a moment.")
    report = [*looking, *map(_click_option, (*(o for o in ADDING if o.to != "on_request"), _ABOUT, *REPORTING)), test, where]
    reducing = [files, *map(_click_option, (*(o for o in READING if o.to not in ("id", "time")), *REDUCING)), where]
    names = click.Option(["--list", "listed"], is_flag=True, help="List the names and stop.")
    sample = [click.Argument(["name"], required=False), where, names]
    page = [
        click.Argument(["paths"], nargs=-1, metavar="[PATH…]"),
        click.Option(["--port"], type=click.IntRange(1, 65535), help="Port to listen on (default: 8501 or the next free one)."),
        click.Option(["--host"], default="127.0.0.1", show_default=True, help="Address to listen on."),
    ]
    commands: list[tuple[Callable[..., _Answer], str, list[Any]]] = [
        (_measure, "Measure how well probabilities fit outcomes, model by model.", [*viewing, reconcile]),
        (_compare, "Set models side by side, with paired differences to a baseline.", [*viewing, _click_option(BASELINE)]),
        (
            _check,
            "Hold models to limits: exit 1 if one is exceeded.",
            [*looking, *map(_click_option, LIMITS), _format_option("table", "json")],
        ),
        (_report, "Write one page for a stakeholder, as HTML or PDF.", report),
        (_inspect, "Say how files are read, and what would be asked.", [*common, _format_option("table", "json")]),
        (_reduce, "Make one small profile file of files however large, which every command opens.", reducing),
        (_sample, "Write a bundled sample file.", sample),
        (_dashboard, "Open the dashboard in a browser; of a folder, its prediction files are offered.", page),
    ]
    version = click.Option(
        ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and stop."
    )
    group = click.Group("calibcore", params=[version], help="When a model says 90%, is it right nine times out of ten?")
    for call, text, params in commands:
        group.add_command(click.Command(call.__name__.lstrip("_"), callback=call, params=params, help=text))
    return group


def _version(context: Any, _option: Any, wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"calibcore {__version__}\n")
        context.exit()


def _click_option(option: Option) -> Any:
    import click

    kind = click.Choice(option.kind) if isinstance(option.kind, tuple) else option.kind
    return click.Option([option.flag, option.to], metavar=option.metavar, help=option.help, type=kind, multiple=option.many)


def _format_option(*formats: str) -> Any:
    import click

    return click.Option(["--format", "output"], type=click.Choice(formats), default="table", show_default=True, help="How to print it.")


def _measure(files: tuple[str, ...], output: str, reconcile: bool, **given: Any) -> _Answer:
    run = _Run.start(files, given)
    wanted = {
        "groups": given["groups"] not in (None, "none"),
        "periods": any(m.time is not None for m in run.models),
        "reconcile": reconcile,
    }
    run.settings = run.settings and replace(run.settings, on_request=(*run.settings.on_request, *(k for k, v in wanted.items() if v)))
    analyses = run.analyses()
    labels = multilabel(run.models, level=analyses[0].settings.level) if given["columns_are"] == "labels" and analyses else None
    return run.answer(output, lambda: _results(output, analyses, labels=labels)) if analyses else run.answer(output)


def _compare(files: tuple[str, ...], output: str, baseline: str | None, **given: Any) -> _Answer:
    run = _Run.start(files, given)
    if run.code:  # a comparison of what is left would answer another question
        return run.answer(output)
    if len(run.models) < 2:
        raise InputError(f"A comparison needs at least two models; {', '.join(files)} holds one. Name another file, or use measure.")
    with waiting(f"Comparing {len(run.models)} models"):
        found = compare(run.models, run.settings, baseline=baseline)
    return run.answer(output, lambda: _results(output, found.analyses, found))


def _check(files: tuple[str, ...], output: str, on: str | None, **given: Any) -> _Answer:
    limit = limits.Limits(given.pop("max_ece"), given.pop("max_mce"), given.pop("max_gap"), "debiased" if on == "debiased" else "plugin")
    run = _Run.start(files, given)
    checks: list[limits.Check] = []
    for model in tracked(run.models, "Checking"):
        with run.catching(model.name):
            checks += limit.judge(model, run.settings or Settings())
    if not checks:
        return run.answer(output)
    found = limits.document(checks, complete=run.code == DONE)
    answer = run.answer(output, lambda: _json(found) if output == "json" else rendered([c.line for c in checks]))
    return replace(answer, code=LIMIT_EXCEEDED) if answer.code == DONE and not found["holds"] else answer


def _report(files: tuple[str, ...], target: str | None, baseline: str | None, remedies: bool, **given: Any) -> _Answer:
    ending, words = report_ending(target), {o.to: v for o in REPORTING if (v := given.pop(o.to)) is not None}
    run = _Run.start(files, given)
    if run.code:  # a report on what is left would answer another question
        return run.answer("")
    models, grouped = subject_first(run.models, baseline), given["groups"] not in (None, "none")
    with waiting("Writing the report"):
        made = make_report(models, run.settings or Settings(), ending, test=remedies, groups=grouped, **words)
    write_file(str(target), made)
    return _Answer(err=(f"Wrote {target}.", *time_hint(models[0])))


def _inspect(files: tuple[str, ...], output: str, labels_file: str | None, **given: Any) -> _Answer:
    mapping, run, found = mapping_of(given), _Run(), []
    labels = None if labels_file is None else Path(labels_file)
    for path in files:
        with run.catching(path):
            found.append(inspect(Path(path), labels=labels, mapping=mapping))
    if output == "json":
        return run.answer("", lambda: _json({"version": __version__, "files": [layout.to_dict() for layout in found]}))
    return run.answer("", lambda: rendered([block for layout in found for block in layout_blocks(layout)]))


def _reduce(files: tuple[str, ...], target: str | None, **given: Any) -> _Answer:
    run, told = _Run(), list[Any]()
    try:
        told += reduce_files(files, target, given)
    except AmbiguousLayout as asked:
        run.ask(files[0], asked)
    return run.answer("", lambda: rendered(told))


def _sample(name: str | None, target: str | None, *, listed: bool) -> _Answer:
    known = samples()
    if listed:
        return _Answer(out="".join(f"{n}\n" for n in known))
    path = known.get((name or "").removesuffix(".csv"))
    if name is not None and path is None:
        raise InputError(f"There is no sample called {name!r}; there are {', '.join(known)}.", available=tuple(known))
    if path is None or target is None:
        it = path.stem if path else "steady-v1"
        raise InputError(f"Say which sample and where to write it, such as  calibcore sample {it} -o {it}.csv")
    write_file(target, path.read_bytes())
    return _Answer(err=(f"Wrote {target}.",))


def _dashboard(paths: tuple[str, ...], port: int | None, host: str) -> _Answer:
    missing = [n for n in _NEEDED_BY_DASHBOARD if importlib.util.find_spec(n) is None]
    if missing:
        return _Answer(WRONG, err=(_install(missing),))
    for path in paths:
        if not Path(path).exists():
            raise InputError(f"There is no file or folder {path}.")
    launch = importlib.import_module("dashboard.launch")  # by name: the page stands above this floor
    return _Answer(int(launch.run([Path(p) for p in paths], port=port, host=host) or DONE))


# --- from options to results --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Run:
    """Files on their way to results, with the faults and questions met on the way."""

    models: list[Predictions] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    questions: list[tuple[str, Question]] = field(default_factory=list)
    settings: Settings | None = None

    @classmethod
    def start(cls, files: tuple[str, ...], given: dict[str, Any]) -> _Run:
        """Read every file alone; a bad one does not keep the others from being read."""
        viewing = {o.to: given.pop(o.to, None) for o in (*VIEWING, *ADDING)}
        labels, run = given.pop("labels_file"), cls()
        if labels is None and given["pair"] is not None:
            raise InputError("--pair says how a file of labels is joined; name that file with --labels-file.")
        told = Told(mapping_of(given), labels, [*files, *filter(None, (viewing["edges_from"],))])
        run.choose(viewing, told)
        if run.code:  # without the reference's edges every number would be another
            return run
        with bar("Reading") as heard:
            for i, path in enumerate(files):
                run.models += run.read(path, told, within(heard, i / len(files), (i + 1) / len(files)))
                if heard:
                    heard((i + 1) / len(files))
        names = told_apart([model.name for model in run.models])
        run.models = [model.but(name=name) for model, name in zip(run.models, names, strict=True)]
        return run

    def read(self, path: str, told: Told, heard: Heard | None = None) -> list[Predictions]:
        """The models of a file; none where it cannot be read."""
        found: list[Predictions] = []
        with self.catching(path):
            found += read(Path(path), **told.to(path), progress=heard)
        return found

    def choose(self, viewing: dict[str, Any], told: Told) -> None:
        """Take the settings from the options, with the edges of another file's first model where that is named."""
        self.settings = settings_of(viewing)
        source = viewing["edges_from"]
        reference = [] if source is None else self.read(source, told)
        if reference:
            self.settings = replace(self.settings, edges=_frozen(reference[0], self.settings))

    @contextmanager
    def catching(self, where: str) -> Iterator[None]:
        """Note a fault or a question of one file, and go on."""
        try:
            yield
        except AmbiguousLayout as asked:
            self.ask(where, asked)
        except InputError as error:
            self.errors.append(str(error) if Path(where).name in str(error) else f"{Path(where).name}: {error}")

    def ask(self, where: str, asked: AmbiguousLayout) -> None:
        """Note the questions of a file; one about a fault is told as such."""
        self.questions += [(where, q) for q in asked.questions if not q.forgives]
        self.errors += [f"{Path(where).name}: {q.text}" for q in asked.questions if q.forgives]

    @property
    def code(self) -> int:
        """Exit code: a fault comes before a question."""
        return WRONG if self.errors else ASKED if self.questions else DONE

    def analyses(self) -> list[Analysis]:
        """Every model that can be measured in these settings."""
        found: list[Analysis] = []
        for model in tracked(self.models, "Measuring"):
            with self.catching(model.name):
                found.append(analyze(model, self.settings))
        return found

    def answer(self, output: str, results: Callable[[], str] = str) -> _Answer:
        """Results on stdout, faults and questions on stderr; as JSON, open questions in place of results."""
        lines = (*self.errors, *(f"{where}: {question_text(q)}" for where, q in self.questions))
        if output == "json" and self.code == ASKED:
            return _Answer(ASKED, _json({"questions": [{**q.to_dict(), "file": where} for where, q in self.questions]}), lines)
        return _Answer(self.code, results(), (*lines, *left_out(self.settings, output)))


def _frozen(reference: Predictions, settings: Settings) -> tuple[float, ...]:
    made = settings.partition(reference.profile(settings.view))
    if not isinstance(made, Partition):
        raise InputError("Bins with shared ties have no edges to take over; leave out --ties share or --edges-from.")
    return tuple(made.edges.tolist())


# --- printing -----------------------------------------------------------------------------------------------------------


def _results(output: str, analyses: Sequence[Analysis], comparison: Comparison | None = None, labels: MultiLabel | None = None) -> str:
    if output == "json":
        return _json(document(analyses, labels) if comparison is None else comparison.to_dict())
    if output == "csv":
        return to_csv(record_table(analyses, comparison))
    blocks = result_blocks(analyses, comparison) + ([] if labels is None else label_blocks(labels))
    return to_markdown(blocks) if output == "md" else rendered(blocks)


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, allow_nan=False, ensure_ascii=False, indent=2) + "\n"
