"""Code and command lines from the page, run: every number of the JSON equals that on screen."""

import contextlib
import io
import json
import os
import subprocess
from pathlib import Path

import pytest

import calibcore as cc
from calibcore.cli import main
from calibcore.io import read_bytes
from calibcore.names import told_apart
from calibcore.options import mapping_arguments, mapping_of, settings_arguments
from calibcore.report.exports import results_json
from calibcore.report.reproduce import Origin, Source, commands, mistakable, python_code

ROOT = Path(__file__).parents[2]


def binary(header="y_true,y_prob", yes="1", no="0", n=120):
    rows = [f"{yes if (i * 7) % 10 < i % 10 else no},{(i % 10 + 0.5) / 10}" for i in range(n)]
    return "\n".join([header, *rows]).encode()


MULTI = "\n".join(["label,p_a,p_b,p_c", *(f"{'abc'[i % 3]},{0.5 - i % 2 / 10},{0.3 + i % 2 / 10},0.2" for i in range(90))]).encode()
LONG = "\n".join(["model,y_true,y_prob", *(f"{m},{i % 2},0.{i % 9 + 1}" for i in range(80) for m in ("one", "two"))]).encode()


def origin(name, data, mapping=None, parts=None):
    """The models of a file and where each comes from."""
    found = read_bytes(data, name, mapping or cc.Mapping())
    files = (name,) if parts is None else tuple(parts)
    source = Source(files, mapping or cc.Mapping(), tuple(p.name for p in found), sha256=found[0].source["sha256"])
    return found, [Origin(source, i) for i in range(len(found))]


def words_in_bash(text, folder):
    """What bash hands to the command for each line: a command of that name prints its words, since a start of Python costs a second."""
    script = folder / "bin" / "calibcore"
    script.parent.mkdir(exist_ok=True)
    script.write_text("#!/bin/sh\nprintf '%s\\0' $# \"$@\"\n")
    script.chmod(0o755)
    there = {**os.environ, "PATH": f"{script.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", text], cwd=folder, env=there, capture_output=True, text=True, check=True, encoding="utf-8")
    printed = iter(done.stdout.split("\0")[:-1])
    return [[next(printed) for _ in range(int(count))] for count in printed]


def from_python(results, origins, folder):
    """What the code prints; run in this process, since each start of Python costs a second."""
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out):
        exec(compile(python_code(results, origins), "again.py", "exec"), {})  # the code under test
    return json.loads(out.getvalue())


def from_shell(text, folder):
    """What the last of the lines prints."""
    out = io.StringIO()
    for arguments in words_in_bash(text, folder):
        with contextlib.chdir(folder), contextlib.redirect_stdout(out):
            assert main(arguments) == 0
    return json.loads(out.getvalue())


def numbers(tree):
    """A result without names: where a file lies may differ, a number may not."""
    if isinstance(tree, dict):
        return {k: numbers(v) for k, v in tree.items() if k not in ("source", "name")}
    return [numbers(v) for v in tree] if isinstance(tree, list) else tree


CASES = {
    "plain": ("m.csv", binary(), None, cc.Settings()),
    "view and bins": ("m.csv", binary(), None, cc.Settings(n_bins=7, strategy="equal_mass", view="positive", level=0.9, seed=3)),
    "edges": ("m.csv", binary(), None, cc.Settings(edges=(0, 0.1, 1 / 3, 1), closed="left")),
    "one class": ("m.csv", MULTI, None, cc.Settings(view="class:b")),
    "threshold": ("m.csv", binary(), None, cc.Settings(threshold=0.8, cost_error=2.5, cost_review=0.5, on_request=("adaptive",))),
    "positive class": ("m.csv", binary("diagnosis,p", "ill", "well"), cc.Mapping(positive="ill"), cc.Settings(view="positive")),
    "no dash is an option": ("-m.csv", binary("-y,p"), cc.Mapping(label="-y", probabilities="p"), cc.Settings()),
    "quotes and blanks": (
        'it\'s "my" $(touch hacked) `x`; file.csv',
        binary('"a, b","it\'s $p"'),
        cc.Mapping(label="a, b", probabilities="it's $p", weight=()),
        cc.Settings(),
    ),
    "line break": ("a\nb\x1b[201~.csv", binary(), None, cc.Settings()),
    "umlauts": ("Größe 模型.csv", binary("Größe,p"), cc.Mapping(label="Größe"), cc.Settings()),
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_measurement_again(case, tmp_path):
    name, data, mapping, settings = CASES[case]
    (tmp_path / name).write_bytes(data)
    models, origins = origin(name, data, mapping)
    analyses = [cc.analyze(m, settings) for m in models]
    by_name = {m.name: o for m, o in zip(models, origins, strict=True)}
    wanted = json.loads(results_json(analyses))
    assert from_python(analyses, by_name, tmp_path) == wanted
    found = commands(analyses, by_name)
    assert found.notes == ()
    (line,) = found.lines
    assert "\n" not in line
    assert "\x1b" not in line
    assert from_shell(line, tmp_path) == wanted
    assert not (tmp_path / "hacked").exists()


def test_a_comparison_again_with_names_that_repeat(tmp_path):
    files = {"m.csv": binary(), "again.csv": binary(n=110), "two.csv": LONG}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    models, origins = zip(*(pair for name in files for pair in zip(*origin(name, files[name]), strict=True)), strict=True)
    names = ["m", "m (2)", "one", "two"]  # as where the second file's model were also called m
    models = [m.but(name=n) for m, n in zip(models, names, strict=True)]
    origins = dict(zip(names, origins, strict=True))
    settings = cc.Settings(n_bins=5)
    chosen = [models[1], models[0], models[3]]
    comparison = cc.compare(chosen, settings, baseline="m")
    assert from_python(comparison, origins, tmp_path) == json.loads(results_json(comparison))
    found = commands(comparison, origins)
    assert found.notes == ("It also prints the other models in the files: one.",)
    printed = from_shell(found.lines[0], tmp_path)
    assert printed["comparison"]["baseline"] == "m"
    by_name = {"m": "m", "m (2)": "again", "two": "two"}
    for a in comparison.analyses:
        (same,) = (m for m in printed["models"] if m["name"] == by_name[a.name])
        assert numbers(same) == numbers({k: v for k, v in a.to_dict().items() if k != "settings"})
    for d in comparison.to_dict()["comparison"]["differences"]:
        (same,) = (x for x in printed["comparison"]["differences"] if x["model"] == by_name[d["model"]])
        assert {**same, "model": ""} == {**d, "model": ""}


def test_predictions_and_labels_in_two_files(tmp_path):
    ids = [f"c{i}" for i in range(100)]
    predictions = "\n".join(["id,y_prob", *(f"{i},0.{k % 9 + 1}" for k, i in enumerate(ids))]).encode()
    labels = "\n".join(["id,y_true", *(f"{i},{k % 2}" for k, i in enumerate(reversed(ids)))]).encode()
    parts = [("pred.csv", predictions), ("true.csv", labels)]
    for name, data in parts:
        (tmp_path / name).write_bytes(data)
    models, origins = origin("pred.csv + true.csv", parts, parts=("pred.csv", "true.csv"))
    analyses = [cc.analyze(m) for m in models]
    by_name = {models[0].name: origins[0]}
    wanted = json.loads(results_json(analyses))
    assert from_python(analyses, by_name, tmp_path) == wanted
    (line,) = commands(analyses, by_name).lines
    assert numbers(from_shell(line, tmp_path)) == numbers(wanted)


def test_files_with_other_answers_are_measured_apart_and_compared_in_python_only(tmp_path):
    ill = binary("diagnosis,p", "ill", "well")
    (one,), (first,) = origin("a.csv", ill, cc.Mapping(positive="ill"))
    (two,), (second,) = origin("b.csv", binary())
    origins = {"a": first, "b": second}
    assert len(commands([cc.analyze(one), cc.analyze(two)], origins).lines) == 2
    found = commands(cc.compare([one, two]), origins)
    assert found.lines == ()
    assert "take the Python code" in found.notes[0]


def test_what_no_option_says_is_said():
    mapping = cc.Mapping(label="label", probabilities={"a": "p_a", "b": "p_b", "c": "p_c"})
    (model,), (where,) = origin("m.csv", MULTI, mapping)
    found = commands([cc.analyze(model)], {"m": where})
    assert found.lines == ()
    assert "No options of the command line" in found.notes[0]
    assert "'a': 'p_a'" in python_code([cc.analyze(model)], {"m": where})


def test_two_files_of_one_name_are_not_mistaken():
    (one,), (first,) = origin("m.csv", binary())
    (two,), (second,) = origin("m.csv", binary(n=110))
    (same,), (third,) = origin("m.csv", binary())
    analyses = [cc.analyze(m.but(name=n)) for m, n in zip((one, two, same), told_apart(["m"] * 3), strict=True)]
    origins = {"m": first, "m (2)": second, "m (3)": third}
    assert "Two different files are called m.csv" in mistakable(analyses, origins)
    assert mistakable([analyses[0], analyses[2]], origins) is None


def test_samples_are_fetched_first(tmp_path):
    data = (ROOT / "assets" / "swift-v2.csv").read_bytes()
    (model,) = read_bytes(data, "swift-v2.csv")
    where = Origin(Source(("swift-v2.csv",), cc.Mapping(), (model.name,), sample=True, sha256=model.source["sha256"]))
    found = commands([cc.analyze(model)], {model.name: where})
    assert found.lines[0] == "calibcore sample swift-v2 -o swift-v2.csv"
    assert from_shell(found.text, tmp_path) == json.loads(results_json([cc.analyze(model)]))


@pytest.mark.parametrize(
    "mapping",
    [
        cc.Mapping(),
        cc.Mapping(label="-y", probabilities=("a,b", " c"), columns_are="models", weight=(), missing="drop"),
        cc.Mapping(probabilities="a,b", groups=("x", '"q"'), classes=("no", "yes")),
        cc.Mapping(confidence=("a", "b"), rows="split=test", drop_label=("void",)),
        cc.Mapping(outcome="a > b", scale="log-prob", pair="row-order"),
    ],
    ids=str,
)
def test_options_say_what_the_mapping_says(mapping):
    from calibcore.options import READING

    words = [w for a in mapping_arguments(mapping) for w in (a.split("=", 1) if a.startswith("--") else [a])]
    given = {next(o.to for o in READING if o.flag == flag): value for flag, value in zip(words[::2], words[1::2], strict=True)}
    assert mapping_of(given).settled(()) == mapping


def test_defaults_are_written_out():
    assert settings_arguments(cc.Settings())[:4] == ["--bins", "15", "--strategy", "equal-width"]
    assert "--bins" not in settings_arguments(cc.Settings(edges=(0, 0.5, 1)))
