"""Every role can be given in Python and in the shell, a given one stands, and all ways of reading a file give one answer."""

import gzip
import io
import json
import random
import zipfile
from fractions import Fraction

import numpy as np
import pytest

import calibcore as cc
from calibcore.cli import main
from calibcore.io import read_bytes
from calibcore.io.effects import try_bytes

FLAGS = {
    "label": "--label",
    "predicted": "--predicted",
    "probabilities": "--prob",
    "confidence": "--confidence",
    "correct": "--correct",
    "positive": "--positive",
    "model": "--model-col",
    "weight": "--weight",
    "id": "--id",
    "groups": "--group",
    "cluster": "--cluster",
    "time": "--time",
    "scale": "--scale",
    "missing": "--missing",
    "classes": "--classes",
    "columns_are": "--columns-are",
    "outcome": "--outcome",
    "drop_label": "--drop-label",
}
EDGES = [Fraction(k, 10) for k in range(11)]


# --- what is expected, by a plain loop over exact fractions ---------------------------------------------------------------


def expected(rows):
    """n, accuracy, mean confidence and ECE in ten bins (a, b] of rows (confidence, right[, weight]); all exact."""
    rows = [(Fraction(c), int(r), Fraction(w[0]) if w else Fraction(1)) for c, r, *w in rows]
    whole = sum(w for *_, w in rows)
    ece = Fraction(0)
    for i in range(10):
        inside = [(c, r, w) for c, r, w in rows if EDGES[i] < c <= EDGES[i + 1] or (i == 0 and c == 0)]
        ece += abs(sum(w * (r - c) for c, r, w in inside)) / whole
    return {
        "n": len(rows),
        "accuracy": sum(w * r for _, r, w in rows) / whole,
        "mean_confidence": sum(w * c for c, _, w in rows) / whole,
        "ece": ece,
    }


def binary(pairs):
    """(confidence, right) of (P(positive), is positive): one half predicts the other class."""
    return [(max(Fraction(p), 1 - Fraction(p)), (Fraction(p) > Fraction(1, 2)) == bool(y), *w) for p, y, *w in pairs]


def several(rows):
    """(confidence, right) of (probabilities, place of the label): the first of equal ones is predicted."""
    return [(max(map(Fraction, ps)), max(range(len(ps)), key=lambda i: (Fraction(ps[i]), -i)) == y) for ps, y in rows]


# --- three ways to read a file --------------------------------------------------------------------------------------------


def options_of(mapping):
    found = []
    for role, value in mapping.items():
        text = "none" if value == () else value if isinstance(value, str) else ",".join(value)
        found += [FLAGS[role], text]
    return found


def by_python(path, mapping):
    return [cc.analyze(p, cc.Settings(n_bins=10)).to_dict() for p in cc.read(path, mapping=cc.Mapping(**mapping))]


def by_page(path, mapping):
    return read_bytes(path.read_bytes(), path.name, cc.Mapping(**mapping))


def said(model):
    """All that a reading says of a model, as plain data: what is equal here has equal numbers."""
    arrays = (model.confidence, model.correct, model.label, model.probabilities, model.weight)
    rest = (model.name, model.task, model.classes, model.positive_class, model.n_excluded, model.views, model.notes)
    return [None if a is None else a.tolist() for a in arrays], rest


def by_shell(capsys, path, mapping):
    code = main(["measure", str(path), "--format", "json", "--bins", "10", *options_of(mapping)])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out.startswith("{") else None, err


def same(model, told):
    """Whether the shell tells of the model that was read, with its notes."""
    plain = (model.name, model.task, [*model.classes], model.positive_class, model.n_excluded)
    keys = ("name", "task", "classes", "positive_class", "n_excluded")
    return plain == tuple(told[k] for k in keys) and {*model.notes} <= {*told["notes"]}


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def table(header, rows, separator=","):
    return "\n".join([header, *(separator.join(map(str, row)) for row in rows)]) + "\n"


# --- small files with what they say ---------------------------------------------------------------------------------------

_RNG = random.Random(20)
# (P, y): two decimals, so that no half and no bin edge is met by chance alone; both happen
PAIRS = [(f"{_RNG.randrange(101) / 100:.2f}", _RNG.randrange(2)) for _ in range(30)]
TRIPLES = []
for _ in range(24):
    _cuts = sorted(_RNG.sample(range(1, 100), 2))
    _parts = (_cuts[0], _cuts[1] - _cuts[0], 100 - _cuts[1])
    TRIPLES.append((tuple(f"{v / 100:.2f}" for v in _parts), _RNG.randrange(3)))
NAMES = ["ant", "bee", "cow"]
PREDICTED = [max(range(3), key=lambda i, ps=ps: (Fraction(ps[i]), -i)) for ps, _ in TRIPLES]
TOPS = [max(ps, key=Fraction) for ps, _ in TRIPLES]
WEIGHTS = [_RNG.randrange(1, 5) for _ in PAIRS]


def archive(**members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as z:
        for name, text in members.items():
            z.writestr(f"{name}.csv", text)
    return data.getvalue()


def one(rows):
    return [expected(rows)]


BINARY = one(binary(PAIRS))
MULTI = one(several(TRIPLES))
_plain = table("y,prob", [(y, p) for p, y in PAIRS])
_shifted = [(f"{(int(Fraction(p) * 100) + 37) % 101 / 100:.2f}", y) for p, y in PAIRS]
_two_models = table("y,gbm,mlp", [(y, p, q) for (p, y), (q, _) in zip(PAIRS, _shifted, strict=True)])
_both = [expected(binary(PAIRS)), expected(binary(_shifted))]
_holes = [(p if i % 7 else "", y if i % 5 else "") for i, (p, y) in enumerate(PAIRS)]
_whole = one(binary([(p, y) for p, y in _holes if p != "" and y != ""]))
_ids = [f"case-{i * 37 % 101}" for i in range(30)]
_truth = sorted(zip(_ids, [y for _, y in PAIRS], strict=True))
_of_both = {
    "p": table("id,prob", [(i, p) for i, (p, _) in zip(_ids, PAIRS, strict=True)]),
    "y": table("id,y", _truth),
}
_long = [(m, i, c, p, NAMES[y]) for m in ("one", "two") for i, (ps, y) in enumerate(TRIPLES) for c, p in zip(NAMES, ps, strict=True)]
_flags = [(p, int(right)) for p, right in [(t, c == y) for t, c, (_, y) in zip(TOPS, PREDICTED, TRIPLES, strict=True)]]
_top = one(_flags)
_named = [(NAMES[y], *ps) for ps, y in TRIPLES]

CASES = {
    "label and P": ("a.csv", _plain, {}, BINARY),
    "semicolons and decimal commas": ("a.csv", _plain.replace(",", ";").replace(".", ","), {}, BINARY),
    "tabs": ("a.tsv", _plain.replace(",", "\t"), {}, BINARY),
    "gzip": ("a.csv.gz", gzip.compress(_plain.encode()), {}, BINARY),
    "UTF-16": ("a.csv", _plain.encode("utf-16"), {}, BINARY),
    "JSON Lines": ("a.jsonl", "\n".join(json.dumps({"y": y, "prob": float(p)}) for p, y in PAIRS), {}, BINARY),
    "JSON records": ("a.json", json.dumps([{"y": y, "prob": float(p)} for p, y in PAIRS]), {}, BINARY),
    "yes and no": ("a.csv", table("outcome,score", [("yes" if y else "no", p) for p, y in PAIRS]), {}, BINARY),
    "true and false": ("a.csv", table("outcome,risk", [(bool(y), p) for p, y in PAIRS]), {}, BINARY),
    "minus one": ("a.csv", table("y,prob", [(1 if y else -1, p) for p, y in PAIRS]), {}, BINARY),
    "percent signs": ("a.csv", table("y,prob", [(y, f"{int(Fraction(p) * 100)}%") for p, y in PAIRS]), {}, BINARY),
    "percent": ("a.csv", table("y,prob", [(y, int(Fraction(p) * 100)) for p, y in PAIRS]), {"scale": "percent"}, BINARY),
    "both columns": ("a.csv", table("y,p_0,p_1", [(y, f"{float(1 - Fraction(p)):.2f}", p) for p, y in PAIRS]), {}, BINARY),
    "row numbers first": ("a.csv", table(",y,prob", [(i, y, p) for i, (p, y) in enumerate(PAIRS)]), {}, BINARY),
    "features beside": ("a.csv", table("age,y,prob", [(20 + i % 50, y, p) for i, (p, y) in enumerate(PAIRS)]), {}, BINARY),
    "predicted at one half": (
        "a.csv",
        table("y_true,y_pred,y_prob", [(y, int(Fraction(p) > Fraction(1, 2)), p) for p, y in PAIRS]),
        {},
        BINARY,
    ),
    "predicted at another threshold": (
        "a.csv",
        table("y_true,y_pred,y_prob", [(y, int(Fraction(p) > Fraction(3, 10)), p) for p, y in PAIRS]),
        {},
        BINARY,
    ),
    "positive asked": ("a.csv", table("y,prob", [("sick" if y else "well", p) for p, y in PAIRS]), {}, ["positive"]),
    "positive told": ("a.csv", table("y,prob", [("sick" if y else "well", p) for p, y in PAIRS]), {"positive": "sick"}, BINARY),
    "positive told the other": (
        "a.csv",
        table("y,prob", [("sick" if y else "well", p) for p, y in PAIRS]),
        {"positive": "well"},
        one(binary([(p, 1 - y) for p, y in PAIRS])),
    ),
    "classes told": ("a.csv", table("y,prob", [("b" if y else "a", p) for p, y in PAIRS]), {"classes": ("a", "b")}, BINARY),
    "weights": (
        "a.csv",
        table("y,prob,w", [(y, p, w) for (p, y), w in zip(PAIRS, WEIGHTS, strict=True)]),
        {"weight": "w"},
        one(binary([(p, y, w) for (p, y), w in zip(PAIRS, WEIGHTS, strict=True)])),
    ),
    "weights not asked for": ("a.csv", table("y,prob,weight", [(y, p, w) for (p, y), w in zip(PAIRS, WEIGHTS, strict=True)]), {}, BINARY),
    "holes": ("a.csv", table("y,prob", [(y, p) for p, y in _holes]), {"missing": "drop"}, _whole),
    "an odd label asked": ("a.csv", _plain.replace("1,", "yes,").replace("0,0", "no,0") + "void,0.5\n", {}, ["drop_label"]),
    "models asked": ("a.csv", _two_models, {}, ["probabilities"]),
    "models told": ("a.csv", _two_models, {"columns_are": "models"}, _both),
    "models named": ("a.csv", _two_models, {"probabilities": ("gbm", "mlp"), "columns_are": "models"}, _both),
    "one of two models": ("a.csv", _two_models, {"probabilities": "mlp"}, _both[1:]),
    "model column": (
        "a.csv",
        table("model,y,prob", [("m1", y, p) for p, y in PAIRS] + [("m2", y, p) for p, y in _shifted[:20]]),
        {},
        [expected(binary(PAIRS)), expected(binary(_shifted[:20]))],
    ),
    "model column refused": (
        "a.csv",
        table("model,y,prob", [("m1", y, p) for p, y in PAIRS] + [("m2", y, p) for p, y in _shifted]),
        {"model": ()},
        one(binary(PAIRS + _shifted)),
    ),
    "problems asked": (
        "a.csv",
        table("rain,snow,prob_rain,prob_snow", [(y, 1 - y, p, q) for (p, y), (q, _) in zip(PAIRS, _shifted, strict=True)]),
        {},
        ["columns_are"],
    ),
    "problems told": (
        "a.csv",
        table("rain,snow,prob_rain,prob_snow", [(y, 1 - y, p, q) for (p, y), (q, _) in zip(PAIRS, _shifted, strict=True)]),
        {"columns_are": "labels"},
        [expected(binary(PAIRS)), expected(binary([(q, 1 - y) for q, y in _shifted]))],
    ),
    "a column a class": ("a.csv", table("label,prob_0,prob_1,prob_2", [(y, *ps) for ps, y in TRIPLES]), {}, MULTI),
    "columns named like classes": ("a.csv", table("kind,ant,bee,cow", _named), {}, MULTI),
    "columns in another order": ("a.csv", table("kind,cow,ant,bee", [(k, c, a, b) for k, a, b, c in _named]), {}, MULTI),
    "unnormalised": (
        "a.csv",
        table("label,prob_0,prob_1,prob_2", [(y, *(f"{float(2 * Fraction(p)):.2f}" for p in ps)) for ps, y in TRIPLES]),
        {"scale": "unnormalised"},
        MULTI,
    ),
    "vectors": ("a.jsonl", "\n".join(json.dumps({"label": y, "probs": [float(p) for p in ps]}) for ps, y in TRIPLES), {}, MULTI),
    "long form": ("a.csv", table("model,id,class,prob,label", _long), {}, MULTI * 2),
    "label, predicted, confidence": (
        "a.csv",
        table("true_label,pred_label,confidence", [(NAMES[y], NAMES[c], t) for (_, y), c, t in zip(TRIPLES, PREDICTED, TOPS, strict=True)]),
        {},
        _top,
    ),
    "confidence and flag": ("a.csv", table("confidence,correct", _flags), {}, _top),
    "two files": ("a.zip", archive(**_of_both), {}, BINARY),
    "an outcome of two scores": (
        "a.csv",
        table("home,away,prob", [(3 if y else 1, 2, p) for p, y in PAIRS]),
        {"outcome": "home > away", "probabilities": "prob"},
        BINARY,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_python_page_and_shell_give_the_same_exact_figures_or_the_same_question(capsys, file, case):
    name, content, mapping, want = CASES[case]
    path = file(name, content)
    code, shell, err = by_shell(capsys, path, mapping)
    if isinstance(want[0], str):
        for read in (by_python, by_page):
            with pytest.raises(cc.AmbiguousLayout) as asked:
                read(path, mapping)
            assert [q.id for q in asked.value.questions] == want
        assert code == 3
        assert [q["id"] for q in shell["questions"]] == want
        assert all(q["flag"] in err and q["flag"] == FLAGS[q["id"]] for q in shell["questions"])
        return
    assert code == 0, err
    models = cc.read(path, mapping=cc.Mapping(**mapping))
    assert [said(m) for m in models] == [said(m) for m in by_page(path, mapping)]
    assert len(models) == len(want)
    for model, figures, told in zip(models, want, shell["models"], strict=True):
        assert model.n == told["n"] == figures["n"]
        for key, of_rows in (("accuracy", model.correct), ("mean_confidence", model.confidence)):
            assert np.average(of_rows, weights=model.weight) == pytest.approx(float(figures[key]), abs=1e-12), key
        for key in ("accuracy", "mean_confidence", "ece"):
            assert told[key] == pytest.approx(float(figures[key]), abs=1e-12), key
        assert same(model, told)


# --- each role ------------------------------------------------------------------------------------------------------------

ROLES = table(
    "rec,algo,y_true,y2,prob,p2,y_pred,w,region,patient,day",
    [
        (
            *(f"r{i}", "ab"[i % 2], y, int(i % 3 == 0), p, f"{float(1 - Fraction(p)):.2f}", int(Fraction(p) > Fraction(1, 2))),
            *(1 + i % 3, "ns"[i % 4 == 0], f"pt{i // 3}", f"2024-{1 + i % 12:02d}-05"),
        )
        for i, (p, y) in enumerate(PAIRS)
    ],
)


def _read(content, **mapping):
    return cc.read(content.encode(), mapping=cc.Mapping(probabilities=mapping.pop("probabilities", "prob"), **mapping))


@pytest.mark.parametrize(
    "role", ["label", "predicted", "probabilities", "confidence", "correct", "model", "weight", "id", "groups", "cluster", "time"]
)
def test_a_column_that_is_not_there_is_named_in_one_sentence_with_those_that_are(capsys, file, role):
    path = file("a.csv", table("y,prob", [(y, p) for p, y in PAIRS]))
    value = ("nope",) if role == "groups" else "nope"
    for call in (cc.read, lambda p, mapping: read_bytes(p.read_bytes(), p.name, mapping)):
        with pytest.raises(cc.InputError) as raised:
            call(path, mapping=cc.Mapping(**{role: value}))
        assert "'nope'" in str(raised.value)
        assert "y, prob" in str(raised.value)
        assert not isinstance(raised.value, cc.AmbiguousLayout)
    code, _, err = by_shell(capsys, path, {role: value})
    assert (code, err.count("\n")) == (2, 1)
    assert "'nope'" in err
    assert try_bytes(path.read_bytes(), path.name, {role: value}).problem.count("'nope'") == 1


def test_a_label_that_is_told_counts_whatever_other_columns_are_called():
    (found,) = _read(ROLES, label="y2", confidence=())
    want = expected(binary([(p, i % 3 == 0) for i, (p, _) in enumerate(PAIRS)]))
    assert cc.analyze(found).to_dict()["accuracy"] == pytest.approx(float(want["accuracy"]), abs=1e-12)


def test_a_probability_that_is_told_counts_whatever_other_columns_are_called():
    (found,) = _read(ROLES, label="y_true", probabilities="p2", positive="0", predicted=())
    want = expected(binary([(1 - Fraction(p), 1 - y) for p, y in PAIRS]))
    for key in ("accuracy", "mean_confidence"):
        assert cc.analyze(found).to_dict()[key] == pytest.approx(float(want[key]), abs=1e-12)


def test_weight_model_id_groups_cluster_and_time_are_taken_as_told():
    told = {"label": "y_true", "weight": "w", "id": "rec", "groups": ("region",), "cluster": "patient", "time": "day"}
    (found,) = _read(ROLES, **told, model=())
    assert found.weight.tolist() == [1 + i % 3 for i in range(30)]
    assert found.ids.tolist() == [f"r{i}" for i in range(30)]
    assert found.groups["region"].tolist() == ["ns"[i % 4 == 0] for i in range(30)]
    assert found.source["roles"]["groups"] == ["region"]
    assert [p.name for p in _read(ROLES, label="y_true", model="algo")] == ["a", "b"]
    assert [p.name for p in _read(ROLES, label="y_true", model="region")] == ["s", "n"]


@pytest.mark.parametrize("role", ["predicted", "model", "weight", "id", "groups", "cluster"])
def test_none_is_an_answer(role):
    (found,) = _read(ROLES, label="y_true", **{role: ()})
    assert role not in found.source["roles"]
    assert found.n == 30


def test_none_instead_of_a_label_leaves_the_flag():
    content = table("y,confidence,correct", [(1 - r, c, r) for c, r in _flags])
    (found,) = cc.read(content.encode(), mapping=cc.Mapping(label=()))
    assert cc.analyze(found).to_dict()["accuracy"] == pytest.approx(float(_top[0]["accuracy"]), abs=1e-12)


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"positive": "maybe"}, ("'maybe'", "0 and 1")),
        ({"classes": ("a", "b")}, ("a and b", "0 and 1")),
        ({"classes": ("0", "1", "2")}, ("other and positive",)),
        ({"classes": ("0", "1"), "positive": "0"}, ("--positive",)),
        ({"label": "y", "outcome": "y > 0"}, ("--label", "--outcome")),
        ({"outcome": "nope > 0"}, ("'nope'", "y, prob")),
        ({"outcome": "y"}, ("no comparison",)),
        ({"pair": "row-order"}, ("--pair",)),
        ({"scale": "unnormalised"}, ("one column a class",)),
        ({"weight": "text"}, ("'text'", "not a number")),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(mapping, words):
    content = table("y,prob,text", [(y, p, "word") for p, y in PAIRS])
    with pytest.raises(cc.InputError) as raised:
        cc.read(content.encode(), mapping=cc.Mapping(**mapping))
    assert all(w in str(raised.value) for w in words), str(raised.value)


def test_a_label_to_drop_that_no_row_has_is_said():
    (found,) = cc.read(_plain.encode(), mapping=cc.Mapping(drop_label=("7",)))
    assert any("'7'" in n for n in found.notes)


# --- names ----------------------------------------------------------------------------------------------------------------


def test_models_keep_their_names(capsys, file):
    names = ["<b>x</b>", "[a](http://e)", 'say "hi"', "x" * 240, "two\nlines", "=1+1", "a,b", "|", "ünï ✓", "other"]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    path = file("a.csv", table("model,y,prob", [(name, y, p) for name in quoted for p, y in PAIRS[:4]]))
    assert [p.name for p in cc.read(path)] == names
    code, shell, _ = by_shell(capsys, path, {})
    assert (code, [m["name"] for m in shell["models"]]) == (0, names)
    for style in ("table", "md", "csv"):
        assert main(["measure", str(path), "--format", style]) == 0


@pytest.mark.parametrize("missing", ["", "NA", "null"])
def test_a_row_without_a_model_is_refused_where_others_have_one(missing):
    content = table("model,y,prob", [(m, y, p) for m in (missing, "b", "c") for p, y in PAIRS])
    with pytest.raises(cc.InputError, match="Row 1 of column 'model' names no model"):
        cc.read(content.encode())


# --- notes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "mapping", "words"),
    [
        ("y,prob\n1,0.9\n0,0.2\n,0.5\n1,\n", {"missing": "drop"}, ("2 of 4 rows left out", "without a value", "without a label")),
        ("y,prob\n1,0.9\n0,0.2\n0,0.5\n", {}, ("1 row shares the largest probability",)),
        ("y,p_0,p_1,p_2\n0,.5,.3,.19\n1,.2,.7,.11\n2,.1,.2,.7\n", {}, ("2 rows do not add up to exactly 1", "0.01")),
        ("y_true,y_pred,prob\n1,1,.9\n0,1,.4\n0,0,.1\n1,0,.2\n", {}, ("'y_pred'", "most probable class")),
        ("y,prob\n1,.9\n1,.8\n1,.6\n", {}, ("Every label is 1",)),
        ("y,prob\n1,.3\n0,.3\n1,.3\n", {}, ("All scores are 0.7",)),
        ("y,prob\n1,100%\n0,20%\n0,100%\n", {}, ("claim exactly 100%", "1 of them was wrong")),
        ("y,prob\nyes,.3\nno,.4\nvoid,.5\nyes,.8\n", {"drop_label": ("void",)}, ("1 of 4 rows left out", "label that is left out")),
    ],
)
def test_what_was_done_is_said_everywhere(capsys, file, content, mapping, words):
    path = file("a.csv", content)
    (analysis,) = by_python(path, mapping)
    _, shell, _ = by_shell(capsys, path, mapping)
    assert main(["measure", str(path), *options_of(mapping)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for notes in (" ".join(analysis["notes"]), " ".join(shell["models"][0]["notes"]), printed):
        assert all(w in notes for w in words), notes
