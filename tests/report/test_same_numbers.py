"""One analysis, printed in many places: charts, tooltips, tables, report and files hold the numbers of its `to_dict`."""

import csv
import io
import json
import re
from itertools import product

import numpy as np
import pytest

import calibcore as cc
from calibcore import plot
from calibcore.plot.marks import Band, Bars, Intervals, Line, Points, Ribbon, Rule, Whiskers
from calibcore.report import act_words, curve_words, exports, fix_words, group_words, parts, tables, words
from calibcore.report.reporting import reported

NUMBER = re.compile(r"[+−-]?\d[\d,]*(?:\.\d+)?")
HALF = 0.5000001  # of the last digit that is written


def binary(n=600, **more):
    rng = np.random.default_rng(1)
    p = rng.beta(0.8, 1.2, size=n)
    y = rng.uniform(size=n) < np.clip(p + 0.15 * np.sin(5 * p), 0, 1)
    return cc.Predictions.from_arrays(y.astype(int), p, name="b <i>&", **more)


def weather(n=500):
    rng = np.random.default_rng(2)
    p = rng.dirichlet((0.7, 1, 1.3), size=n)
    return cc.Predictions.from_arrays([rng.choice(3, p=row**0.6 / (row**0.6).sum()) for row in p], p, name="c")


def confidences(n=400):
    rng = np.random.default_rng(3)
    c = rng.uniform(0.4, 1, size=n).round(2)
    return cc.Predictions.from_top_label(c, rng.uniform(size=n) < c - 0.1, name="t")


RNG = np.random.default_rng(4)
MODELS = {
    "binary": binary(),
    "few": binary(9),
    "classes": weather(),
    "confidences": confidences(),
    "weighted": binary(sample_weight=RNG.choice([0.3, 1.0, 4.0], size=600)),
    "clustered": binary(cluster=np.repeat(np.arange(150), 4)),
}
SETTINGS = {
    "usual": {},
    "mass": {"strategy": "equal_mass", "n_bins": 7},
    "edges": {"edges": (0, 0.5, 0.7, 0.85, 1), "level": 0.8},
    "left": {"closed": "left", "n_bins": 10, "level": 0.99},
    "shared": {"strategy": "equal_mass", "ties": "share"},
}
VIEWS = {"binary": ("top_label", "positive"), "classes": ("top_label", "class:1"), "weighted": ("positive",)}
CASES = [(m, s, v) for m, s in product(MODELS, SETTINGS) for v in VIEWS.get(m, ("top_label",))]


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def analysis(request):
    model, settings, view = request.param
    return cc.analyze(MODELS[model], cc.Settings(view=view, threshold=0.6, cost_error=7, cost_review=2, **SETTINGS[settings]))


@pytest.fixture(scope="module")
def plain(analysis):
    return json.loads(json.dumps(analysis.to_dict()))


def only(chart, kind):
    return [m for m in chart.marks if isinstance(m, kind)]


def same(text, value, scale=1.0):
    """Whether a text is a number to all the digits it has."""
    digits = NUMBER.search(text).group().replace(",", "").replace("−", "-")
    decimals = len(digits.partition(".")[2])
    return abs(float(digits) - scale * value) <= HALF * 10**-decimals


def ends(text, pair, scale=100.0):
    """Whether a text is an interval, or a dash where there is none."""
    if pair is None:
        return text == "–"
    low, high = text.split(" to ")
    return same(low, pair[0], scale) and same(high, pair[1], scale)


def filled(plain):
    return [b for b in plain["bins"] if b["confidence"] is not None]


def shown(found, numbers):
    return list(found) == pytest.approx(numbers, abs=1e-12)


# --- the bins: tables, marks and tooltips


@pytest.mark.parametrize("chart", ["reliability", "gaps", "counts"])
def test_tables_of_bins(analysis, plain, chart):
    table = plot.CHARTS[chart](analysis).table
    assert len(table.rows) == len(plain["bins"])
    weight = analysis.bins.weight
    for i, (row, b) in enumerate(zip(table.rows, plain["bins"], strict=True)):
        assert same(row[1], b["count"])
        if b["confidence"] is None:
            assert set(row[3:]) == {"–"}
            continue
        assert same(row[2], weight[i] / weight.sum(), 100)
        assert same(row[3], b["confidence"], 100)
        assert same(row[4], b["accuracy"], 100)
        assert same(row[5], b["gap"], 100)
        assert ends(row[6], b["interval"])
        assert ends(row[7], b["chance"])
    level = f"{100 * plain['settings']['level']:g}%"
    assert table.header[6].startswith(level)
    assert table.header[7].startswith(level)


def test_marks_of_the_diagram(analysis, plain):
    chart, bins = plot.reliability(analysis, uncertainty="both"), filled(plain)
    (points, *arrows), (bars,) = only(chart, Points), only(chart, Bars)
    drawn = [plain["bins"][i] for i in points.ids]
    assert shown(points.x, [b["confidence"] for b in drawn])
    assert shown(points.y, [b["accuracy"] for b in drawn])
    below = [plain["bins"][i] for mark in arrows for i in mark.ids]  # of few rows, below the picture
    assert all(b["count"] < 30 and b["accuracy"] < chart.y.low for b in below)
    assert sorted(b["lower"] for b in drawn + below) == [b["lower"] for b in bins]
    assert shown(bars.height, [max(b["gap"], chart.y.low - b["confidence"]) for b in bins])
    if analysis.bins.shared:
        assert not only(chart, Band)
        assert not only(chart, Whiskers)
        return
    (band,), (whiskers,) = only(chart, Band), only(chart, Whiskers)
    for mark, key in ((band, "chance"), (whiskers, "interval")):
        assert shown(mark.low, [b[key][0] for b in bins])
        assert shown(mark.high, [b[key][1] for b in bins])
    outside = {"over": lambda b: b["accuracy"] < b["chance"][0], "under": lambda b: b["accuracy"] > b["chance"][1]}
    assert points.roles == tuple(next((r for r, found in outside.items() if found(b)), "within") for b in drawn)


def test_marks_of_gaps_and_rows(analysis, plain):
    bins, weight = filled(plain), analysis.bins.weight[analysis.bins.filled]
    chart = plot.gaps(analysis)
    height = only(chart, Bars)[0].height
    limit = 0.7 * chart.y.high  # what lies beyond is of few rows and told by an arrow
    assert shown(height, [min(max(b["gap"], -limit), limit) for b in bins])
    beyond = [i for i, b in enumerate(plain["bins"]) if b["count"] and abs(b["gap"]) > limit + 1e-9]
    assert all(plain["bins"][i]["count"] < 30 for i in beyond)
    assert sorted(i for mark in only(chart, Points) if mark.symbol.startswith("triangle") for i in mark.ids) == beyond
    assert shown(only(plot.counts(analysis), Bars)[0].height, weight / weight.sum())
    assert shown(only(plot.counts(analysis, scale="count"), Bars)[0].height, [b["count"] for b in bins])
    said, was = only(plot.counts(analysis), Rule)
    assert (said.x, was.x) == (plain["mean_confidence"], plain["accuracy"])
    assert same(said.text, plain["mean_confidence"], 100)
    assert same(was.text, plain["accuracy"], 100)


def test_tooltips_of_bins(analysis, plain):
    for chart in (plot.reliability(analysis), plot.gaps(analysis), plot.counts(analysis)):
        (bars,) = only(chart, Bars)
        for i, tip in zip(bars.ids, bars.tooltips, strict=True):
            b, lines = plain["bins"][i], {line.split()[0]: line for line in tip}
            assert same(lines["says"], b["confidence"], 100)
            happened = next(line for word, line in lines.items() if word in ("right", "happened"))
            assert same(happened.split(" = ")[-1], b["accuracy"], 100)
            assert same(lines["gap"], b["gap"], 100)
            level = f"{100 * plain['settings']['level']:g}%"
            interval = next((line for line in tip if "Wilson" in line), None)
            assert ends(interval.removeprefix(f"{level} Wilson interval ") if interval else "–", b["interval"])
            calibrated = next((line for line in tip if line.startswith("a calibrated")), None)
            assert ends(calibrated.removeprefix("a calibrated model: ") if calibrated else "–", b["chance"])


# --- the other charts of one analysis


def test_the_sweep(analysis, plain):
    chart, found = plot.sweep(analysis), plain["sweep"]
    width, mass = only(chart, Line)
    assert list(width.y) == found["equal_width"][: len(width.x)]
    assert list(mass.y) == found["equal_mass"][: len(mass.x)]
    (chance,) = only(chart, Ribbon)
    assert (list(chance.low), list(chance.high)) == (found["chance"]["median"], found["chance"]["p95"])
    assert only(chart, Points)[0].y == (plain["ece"],)
    for row in chart.table.rows:
        at = found["n_bins"].index(int(row[0]))
        values = (found["equal_width"], found["equal_mass"], found["chance"]["median"], found["chance"]["p95"])
        assert all(same(cell, v[at]) for cell, v in zip(row[1:], values, strict=True))
    said = words.sweep_sentence(analysis)
    ece, typical, most = re.search(r"shown it is ([\d.]+); chance alone gives ([\d.]+), up to ([\d.]+) there", said).groups()
    assert all(same(t, v) for t, v in ((ece, plain["ece"]), (typical, plain["chance"]["median"]), (most, plain["chance"]["p95"])))
    # each strategy's own range between 5 and 50 bins
    for kind in ("width", "mass"):
        values = [v for m, v in zip(found["n_bins"], found[f"equal_{kind}"], strict=True) if 5 <= m <= 50]
        low, high = re.search(rf"from ([\d.]+) to ([\d.]+) with equal-{kind} bins", said).groups()
        assert same(low, min(values))
        assert same(high, max(values))


def test_the_cumulative_curve(analysis, plain):
    chart, found = plot.cumulative(analysis), plain["cumulative"]
    curve = only(chart, Line)[0]
    assert max(curve.y) - min(curve.y) == pytest.approx(found["range"])
    assert max(map(abs, curve.y)) == pytest.approx(found["mad"])
    assert curve.y[-1] == pytest.approx(plain["gap"]["value"])
    for text in (curve_words.cumulative_sentence(analysis), chart.alt):
        assert f"{100 * found['range']:.1f} points of all rows" in text
    limit = analysis.measures["cumulative"].chance_limit(plain["settings"]["level"])
    assert [m.high for m in only(chart, Ribbon)] == ([] if limit is None else [(limit, limit)])


def test_the_classes(analysis, plain):
    chart, found = plot.classes(analysis), plain["classwise"]
    if found is None:
        assert chart.table.rows == ()
        return
    each = found["per_class"]
    (points,) = only(chart, Points)
    assert shown(points.x, [each[plain["classes"][i]]["ece"] for i in points.ids])
    assert shown(only(chart, Intervals)[0].high, [each[plain["classes"][i]]["floor"] for i in points.ids])
    for name, rows, ece, floor, beyond in chart.table.rows:
        assert same(rows, each[name]["n"])
        assert same(ece, each[name]["ece"])
        assert same(floor, each[name]["floor"])
        assert same(beyond, each[name]["ece"] - each[name]["floor"])
    numbers = {n.label: n for n in group_words.class_numbers(analysis)}
    assert same(numbers["Mean classwise ECE"].value, found["mean"])
    assert same(numbers["Top-label ECE"].value, plain["views"]["top_label"]["ece"])


def test_risk_and_threshold(analysis, plain):
    chart, curve, panel = plot.risk_coverage(analysis), plain["risk_coverage"], plain["threshold"]
    expected, found = only(chart, Line)
    first = next((i for i, n in enumerate(curve["count"]) if n >= 30), 0)  # before that a rate rests on few rows
    assert list(found.x) == curve["coverage"][first:]
    assert (list(expected.y), list(found.y)) == (curve["expected_risk"][first:], curve["risk"][first:])
    acted = panel["acted"]
    numbers = {n.label: n for n in act_words.act_numbers(analysis)}
    assert same(numbers["Acted on"].value, acted["count"])
    assert same(numbers["Acted on"].beside, panel["coverage"], 100)
    assert same(numbers["Cost found"].value, panel["cost"]["found"])
    assert same(numbers["Cost found"].beside, panel["cost"]["expected"])
    if not acted["count"]:
        return
    weighted = abs(acted["weight"] - acted["count"]) > 1e-9
    for label, key in (("found", "errors_found"), ("expected", "errors_expected")):
        number = next(n for name, n in numbers.items() if name.endswith(label))
        assert same(number.value, acted[f"rate_{label}"], 100) if weighted else same(number.value, acted[key])
        assert same(number.beside, acted[f"rate_{label}"], 100)
        pair = acted["interval" if label == "found" else "expected_range"]
        assert ends(re.search(r"[\d.]+ to [\d.]+%", number.beside).group(), pair)
    (whiskers,) = only(chart, Whiskers)
    assert [whiskers.low[0], whiskers.high[0]] == acted["interval"]
    assert only(chart, Rule)[0].x == panel["coverage"]


# --- words, report and files


def test_key_numbers(analysis, plain):
    gap, ece, mce, brier, loss = words.key_numbers(analysis)
    assert same(gap.value, plain["gap"]["value"], 100)
    if plain["gap"]["low"] is not None:
        level, _, pair = gap.beside.removesuffix(" points").partition(" interval ")
        assert level == f"{100 * plain['settings']['level']:g}%"
        assert ends(pair, [plain["gap"]["low"], plain["gap"]["high"]])
    assert same(ece.value, plain["ece"])
    assert ends(ece.beside.removeprefix("chance alone: ").replace(", up", ""), [plain["chance"]["median"], plain["chance"]["p95"]], 1.0)
    assert same(mce.value, plain["mce"]["value"])
    assert same(brier.value, plain["brier"]["value"])
    assert same(loss.value, plain["log_loss"]["value"])


def test_the_report(analysis, plain):
    report = reported([analysis], training="no")
    (row,) = report.table.rows
    cells = {title.split()[0].rstrip(","): cell for title, cell in zip(report.table.header, row, strict=True)}
    level = f"{100 * plain['settings']['level']:g}%"
    assert same(cells["Rows"], plain["n"])
    assert same(cells.get("Accuracy") or cells["Share"], plain["accuracy"], 100)
    assert same(cells["Mean"], plain["mean_confidence"], 100)
    assert any(title.startswith("Gap") and level in title for title in report.table.header)
    gap = NUMBER.findall(cells["Gap"].replace(", ", " "))
    found = [v for v in (plain["gap"][k] for k in ("value", "low", "high")) if v is not None]
    assert all(same(text, v, 100) for text, v in zip(gap, found, strict=True))
    ece = NUMBER.findall(cells["ECE"])
    assert all(same(t, v) for t, v in zip(ece, (plain["ece"], plain["chance"]["median"], plain["chance"]["p95"]), strict=True))
    assert same(cells["Brier"], plain["brier"]["value"])
    assert same(cells["Log"], plain["log_loss"]["value"])
    drawn, alone = only(report.charts[0], Points)[0], only(plot.reliability(analysis), Points)[0]
    assert (drawn.x, drawn.y, drawn.roles, drawn.tooltips) == (alone.x, alone.y, alone.roles, alone.tooltips)
    assert report.charts[1].table == plot.counts(analysis).table
    assert f"n = {plain['n']:,}" in " ".join(report.caveats.lines)
    panel = plain["threshold"]
    lines = next(s.lines for s in report.beside if s.heading == "At your threshold")
    if panel["acted"]["count"]:
        assert f"{panel['acted']['count']:,} of {plain['n']:,} rows" in lines[0]


def test_plain_terms(analysis, plain):
    said = re.sub("“.*?”", "", parts.plain_terms(analysis).lines[0]).replace("under 0.1", "0")
    numbers = NUMBER.findall(said)
    if said.startswith("Where"):
        sides = [plain["pattern"]["evidence"][k] for k in ("over", "under") if plain["pattern"]["evidence"].get(k)]
        wanted = [v for side in sides for v in (side["confidence"], side["accuracy"])]
        assert all(same(text, v, 100) for text, v in zip((n for n in numbers if n != "100"), wanted, strict=True))
        return
    shares = [plain["mean_confidence"], plain["accuracy"]]
    shares = [1 - v for v in shares] if plain["view"] == "top_label" else shares
    base = float(numbers[0].replace(",", ""))
    assert base <= max(plain["n"], 100 if "(weighted)" in said else 0)
    assert len(numbers) == 3
    assert all(same(text, share, base) for text, share in zip(numbers[1:], shares, strict=True))


def test_bins_as_csv(analysis, plain):
    found = list(csv.DictReader(io.StringIO(exports.bins_csv([analysis]))))
    assert len(found) == len(plain["bins"])
    for line, b in zip(found, plain["bins"], strict=True):
        for name in ("lower", "upper", "count", "confidence", "accuracy", "gap"):
            assert (float(line[name]) if line[name] else None) == b[name]
        for key in ("interval", "chance"):
            pair = [float(line[f"{key}_{end}"]) if line[f"{key}_{end}"] else None for end in ("low", "high")]
            assert pair == (b[key] or [None, None])
        assert float(line["level"]) == plain["settings"]["level"]
        assert line["view"] == plain["view"]


def test_results_as_json_and_as_a_record(analysis, plain):
    (written,) = json.loads(exports.results_json([analysis]))["models"]
    assert written == {k: v for k, v in plain.items() if k != "settings"}
    table = tables.record_table([analysis])
    record = dict(zip(table.header, table.rows[0], strict=True))
    for name in ("n", "weight_sum", "accuracy", "mean_confidence", "ece", "rmsce", "bins_used"):
        assert float(record[name]) == plain[name]
    for name, value in (("gap", "value"), ("gap_low", "low"), ("gap_high", "high")):
        assert (float(record[name]) if record[name] else None) == plain["gap"][value]


# --- results beside an analysis


@pytest.mark.parametrize(("view", "level"), [("top_label", 0.95), ("positive", 0.8), ("class:1", 0.99)])
def test_groups(view, level):
    site = np.repeat(["a", "b", "c", "d"], [300, 200, 60, 40])
    found = cc.by_group(binary(groups={"site": site}), "site", view=view, level=level)
    plain, chart = found.to_dict()["groups"], plot.groups(found)
    for row, drawn, g in zip(group_words.group_table(found).rows, chart.table.rows, plain, strict=True):
        assert row[:4] == drawn[:4]
        assert same(row[1], g["n"])
        assert same(row[2], g["mean_confidence"], 100)
        assert same(row[3], g["accuracy"], 100)
        assert same(row[4], g["gap"]["value"], 100)
        assert same(drawn[4], g["gap"]["value"], 100)
        assert same(row[8], g["ece"])
        if g["judged"]:
            pair = [g["gap"]["low"], g["gap"]["high"]]
            assert ends(row[4].partition("(")[2].rstrip(")"), pair)
            assert ends(drawn[5], pair)
            assert ends(row[9], [g["chance"]["median"], g["chance"]["p95"]], 1.0)
    (points,) = only(chart, Points)
    assert shown(points.x, [plain[i]["gap"]["value"] for i in points.ids])
    assert f"{100 * level:g}%" in group_words.group_table(found).header[4]
    assert f"{100 * level:g}%" in chart.caption


def test_periods():
    found = cc.by_period(binary(time=np.repeat([1, 2, 3], 200)), level=0.8)
    plain, chart = found.to_dict(), plot.periods(found)
    for row, p in zip(chart.table.rows, plain["periods"], strict=True):
        assert same(row[1], p["n"])
        assert same(row[2], p["mean_confidence"], 100)
        assert same(row[3], p["accuracy"], 100)
        assert same(row[4], p["base_rate"], 100)
        assert same(row[5], p["gap"]["value"], 100)
        assert ends(row[6], [p["gap"]["low"], p["gap"]["high"]])
    assert shown(only(chart, Points)[0].y, [p["gap"]["value"] for p in plain["periods"]])
    slope, said = plain["change"]["slope"], group_words.trend_line(found)
    assert same(said, slope["value"], 100)
    level, _, pair = said.partition("(")[2].partition(")")[0].partition(" interval ")
    assert level == "80%"
    assert ends(pair, [slope["low"], slope["high"]])


@pytest.mark.parametrize("score", ["log_loss", "brier", "gap"])
def test_remedies(score):
    found = cc.remedies(binary(), methods=["temperature", "platt"], level=0.8)
    plain, chart = found.to_dict(), plot.changes(found, score)
    scale = 100 if score == "gap" else 1
    for row, r in zip(chart.table.rows, plain["tried"], strict=True):
        assert same(row[1], r[score]["value"], scale)
        assert ends(row[2], [r[score]["low"], r[score]["high"]], scale)
        assert same(row[3], plain["before"][score], scale)
        assert same(row[4], r["after"][score], scale)
    assert shown(only(chart, Points)[0].x, [r[score]["value"] for r in plain["tried"]])
    title = {"log_loss": "Log loss", "brier": "Brier score", "gap": "Gap, points"}[score]
    for remedy, r in zip(found.tried, plain["tried"], strict=True):
        row = next(row for row in fix_words.before_after(found, remedy).rows if row[0] == title)
        assert same(row[1], plain["before"][score], scale)
        assert same(row[2], r["after"][score], scale)
        assert [same(t, r[score][k], scale) for t, k in zip(NUMBER.findall(row[3]), ("value", "low", "high"), strict=True)] == [True] * 3
    assert fix_words.before_after(found, found.tried[0]).header[3] == "Change (80% interval)"


def test_comparisons():
    one, two = binary(), binary(sample_weight=None)
    found = cc.compare([one, two.but(name="other"), confidences()], cc.Settings(level=0.8))
    plain = found.to_dict()["comparison"]["differences"]
    for row, d, compared in zip(tables.difference_table(found).rows, plain, found.differences, strict=True):
        for cell, key, scale in ((row[2], "log_loss", 1), (row[3], "brier", 1), (row[4], "gap", 100)):
            numbers = [] if d[key] is None else [v for v in (d[key][k] for k in ("value", "low", "high")) if v is not None]
            assert all(same(t, v, scale) for t, v in zip(NUMBER.findall(cell.replace(", ", " ")), numbers, strict=True))
        drawn = next(r for r in plot.differences(found).table.rows if r[0] == compared.model)
        assert drawn[3] == row[1]  # which rows were compared, in the same words
