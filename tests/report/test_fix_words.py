"""Words, tables and files of the page Fix: they hold what the remedies hold, and can be read and run again."""

import contextlib
import csv
import io
import json
import math
import re

import numpy as np
import pytest

import calibcore as cc
from calibcore.advice.recalibration import Parameter, confidence_only
from calibcore.io import read_bytes
from calibcore.report import fix_exports, fix_words

FORBIDDEN = ("well calibrated", "perfect", "safe", "better ECE", "significant")
# 50 rows at 0.1 of which 10 happened, 50 at 0.9 of which 40 happened; ten times.
Y, P = ([1] * 10 + [0] * 40 + [1] * 40 + [0] * 10) * 10, ([0.1] * 50 + [0.9] * 50) * 10
MODEL = cc.Predictions.from_arrays(Y, P, name="too sure", ids=[f"id{i}" for i in range(1000)])
FEW = cc.Predictions.from_arrays(Y[:200], P[:200], name="few")


def weather(n=1500, seed=3):
    random = np.random.default_rng(seed)
    z = random.normal(size=(n, 3))
    share = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    sharper = share**2 / (share**2).sum(axis=1, keepdims=True)
    names = ["clear", "=1+1", "rain or snow"]
    y = (share.cumsum(axis=1) < random.random((n, 1))).sum(axis=1)
    return cc.Predictions.from_arrays([names[k] for k in y], sharper, classes=names, name="weather")


WEATHER = weather()
FOUND = cc.remedies(MODEL)


def cells(table):
    return {row[0]: row[1:] for row in table.rows}


def test_before_is_worked_out_by_hand():
    found = cells(fix_words.before_after(FOUND, FOUND["temperature"]))
    log_loss = -(0.8 * math.log(0.9) + 0.2 * math.log(0.1))
    assert found["Log loss"][0] == f"{log_loss:.4f}"
    assert found["Brier score"][0] == f"{0.8 * 0.01 + 0.2 * 0.81:.4f}"
    assert found["Gap, points"][0] == "−10.0"
    assert found["ECE, 15 equal-width bins"][0] == "0.1000"
    # All rows but the fold's: nearly 0.2 and 0.8, whose Brier score is 0.16.
    assert float(found["Brier score"][1]) == pytest.approx(0.16, abs=0.0005)
    assert found["ECE, 15 equal-width bins"][2] == "–"


def test_folds_on_both_sides_of_1_leave_the_way_open():
    said = [fix_words._temperature(Parameter(*((v,) for v in t))) for t in [(0.6, 0.24, 5.9), (1.0, 0.99, 1.01), (1.5, 1.2, 1.9)]]
    assert said[0].endswith("0.240 to 5.900 over the folds: on both sides of 1, so these rows do not tell which way.")
    assert said[1].endswith("hardly a change.")
    assert said[2].endswith("towards an even guess.")


def test_temperature_in_words():
    sentence = fix_words.parameter_sentence(FOUND["temperature"])
    assert sentence.startswith(f"Temperature T = {math.log(9) / math.log(4):.3f} on all rows")
    assert sentence.endswith("above 1, so every claim moves towards an even guess.")


def test_options_leave_out_what_cannot_be_fitted():
    few = cc.remedies(FEW)
    assert "Isotonic" in fix_words.fix_options(cc.remedies(confidence_only(WEATHER)))
    assert "Isotonic" not in fix_words.fix_options(few)
    assert fix_words.not_tried(few) == ("Isotonic regression needs about 1,000 rows to fit; there are 160.",)


def test_parameters_name_their_classes():
    rows = cells(fix_words.parameter_table(cc.remedies(WEATHER)["vector"]))
    assert {"Scale of clear", "Shift of rain or snow"} <= set(rows)
    assert fix_words.parameter_table(FOUND["venn_abers"]) is None


def test_many_parameters_are_cut_short():
    random = np.random.default_rng(0)
    p = random.dirichlet(np.ones(30), 600)
    many = cc.remedies(cc.Predictions.from_arrays((p.cumsum(axis=1) < random.random((600, 1))).sum(axis=1), p), methods=["intercept"])
    table = fix_words.parameter_table(many["intercept"])
    assert len(table.rows) == 21
    assert table.rows[-1][0] == "10 more in the JSON"


def test_changed_classes_are_counted():
    other = cc.Predictions.from_arrays(Y, [0.6, *P[1:]], name="after")
    assert fix_words.class_sentence(MODEL, MODEL) == "The predicted class stays the same in every row."
    # The first row, an event at 0.1, becomes right: 800 of 1,000 before, 801 after.
    assert fix_words.class_sentence(MODEL, other) == (
        "The predicted class changes in 1 of 1,000 rows: 80.0% of rows were right before, 80.1% are after."
    )
    alone = confidence_only(MODEL)
    assert "stays as it is" in fix_words.class_sentence(alone, alone)


def test_no_help_is_a_normal_answer():
    exact = cc.Predictions.from_arrays([1] * 100 + [0] * 400 + [1] * 400 + [0] * 100, [0.2] * 500 + [0.8] * 500)
    found = cc.remedies(exact)
    assert found.best is None
    line = fix_words.answer(found, cc.analyze(exact))
    assert line.startswith("No recalibration that was tried helps here. Temperature scaling ")
    assert line.endswith("The diagnosis suggests none either.")


@pytest.mark.parametrize("model", [MODEL, WEATHER, confidence_only(WEATHER), FEW], ids=["binary", "three", "alone", "few"])
def test_nothing_forbidden_is_said(model):
    found, a = cc.remedies(model), cc.analyze(model)
    lines = [fix_words.title(model.name), fix_words.how_judged(found), fix_words.answer(found, a, 3)]
    for r in (r for r in found.tried if r.status != "not_tried"):
        lines += [fix_words.change_words(found, r), str(fix_words.parameter_sentence(r))]
        lines += [f"{c.line} {c.why}" for c in fix_words.fix_caveats(found, r)]
        assert lines[-1] != ""
        assert len(fix_words.before_after(found, r).rows) >= 5
    said = " ".join(lines)
    assert not [w for w in FORBIDDEN if w in said]
    assert not re.search(r"\bnan\b|\binf\b", said)


@pytest.mark.parametrize("model", [MODEL, WEATHER], ids=["binary", "three"])
def test_the_held_out_scores_are_read_back(model):
    held_out = cc.remedies(model).held_out(model, "temperature")
    text = fix_exports.calibrated_csv(held_out)
    rows = list(csv.DictReader(io.StringIO(text)))
    for k, name in enumerate(held_out.classes):
        assert [float(r[f"prob_{name}"]) for r in rows] == held_out.probabilities[:, k].tolist()
    if model is WEATHER:
        assert "'=1+1" in {r["label"] for r in rows}  # no formula for a spreadsheet
        return
    (again,) = read_bytes(text.encode(), "held-out.csv", cc.Mapping(positive="1"))
    assert again.probabilities.tolist() == held_out.probabilities.tolist()
    assert again.label.tolist() == held_out.label.tolist()


def test_held_out_confidences_are_read_back():
    model = confidence_only(WEATHER)
    held_out = cc.remedies(model).held_out(model, "isotonic")
    (again,) = read_bytes(fix_exports.calibrated_csv(held_out).encode(), "held-out.csv")
    assert again.confidence.tolist() == held_out.confidence.tolist()
    assert again.correct.tolist() == held_out.correct.tolist()


@pytest.mark.parametrize(
    ("model", "method"), [(MODEL, "platt"), (MODEL, "venn_abers"), (WEATHER, "vector"), (confidence_only(WEATHER), "isotonic")]
)
def test_the_code_applies_the_saved_map(model, method, tmp_path):
    calibrator = cc.Calibrator.fit(model, method)
    (tmp_path / "map.json").write_text(fix_exports.calibrator_json(calibrator), encoding="utf-8")
    calibrator.save(tmp_path / "saved.json")
    assert (tmp_path / "map.json").read_bytes() == (tmp_path / "saved.json").read_bytes()
    code = fix_exports.apply_code(calibrator, "map.json")
    printed = io.StringIO()
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(printed):
        exec(compile(code, "apply.py", "exec"), {})  # the code under test
    new = {"binary": [0.05, 0.5, 0.95], "top_label": [0.6, 0.8, 0.95]}.get(model.task, np.full((3, 3), 1 / 3))
    assert printed.getvalue().strip() == str(calibrator.apply(np.array(new)))


def test_code_takes_no_orders_from_names():
    calibrator = cc.Calibrator.prior_shift(0.5, 0.2, classes=("no", "yes\nimport os  # '\""))
    code = fix_exports.apply_code(calibrator, "a'b\n.json")
    assert "\nimport os" not in code
    compile(code, "code", "exec")


def test_json_holds_the_schema():
    assert json.loads(fix_exports.calibrator_json(cc.Calibrator.fit(MODEL)))["format"] == "calibcore calibrator"


def test_an_error_that_remains_after_the_remedy_is_said():
    # at 0.9 half are right, at 0.7 seven in ten: no temperature mends the one and leaves the other
    y, p = [1] * 500 + [0] * 500 + [1] * 700 + [0] * 300, [0.9] * 1000 + [0.7] * 1000
    model = cc.Predictions.from_top_label(p, y, name="m")
    found = cc.remedies(model, methods=["temperature"])
    after = found["temperature"].after
    assert found.best is not None
    assert after.ece > after.chance.p95
    line = fix_words.remains_line(found, found.best)
    assert line.startswith(f"An error remains: ECE {after.ece:.4f}, where a calibrated model typically shows {after.chance.median:.4f}, ")
    assert f"more than {after.chance.p95:.4f} in 1 of 20 samples (15 equal-width bins)." in line
    assert line in fix_words.answer(found, cc.analyze(model))


def test_nothing_is_said_to_remain_where_the_remedy_mends_it():
    # one temperature mends both scores, as `test_before_is_worked_out_by_hand` works out
    assert FOUND.best.after.ece <= FOUND.best.after.chance.p95
    assert fix_words.remains_line(FOUND, FOUND.best) is None


def test_too_few_rows_are_said_to_be_too_few_and_nothing_more():
    tiny = cc.Predictions.from_arrays([1, 0] * 10 + [1] * 5, [0.8] * 25, name="tiny")
    assert fix_words.answer(cc.remedies(tiny), cc.analyze(tiny)) == "Too few rows to test a remedy (n = 25)."
