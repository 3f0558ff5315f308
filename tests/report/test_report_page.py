"""The report for a stakeholder: what it says, that names are never markup, and that it is one page without script."""

import datetime as dt
import functools
import re
import shutil
import subprocess
from dataclasses import replace
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest

import calibcore as cc
from calibcore.errors import InputError
from calibcore.report import pdf, training
from calibcore.report.naming import NAME_LENGTH, short
from calibcore.report.page import preview_style, report_html, to_html
from calibcore.report.parts import MEANING, verdict_words
from calibcore.report.reporting import MOST_NOTE, reported, times_in_groups, with_period

pytest.importorskip("matplotlib")

DAY = dt.date(2026, 3, 9)
EVIL = "<img src=x onerror=alert(1)>![x](http://a.example/b)#let x*_$[]\"&'\\"
FORBIDDEN = ("well calibrated", "perfect", "safe", "significant", "better ECE", "nan")
CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)


def model(p, k, n=1000, name="m", **more):
    """``n`` rows of P(1) = p of which a share of k happened, and as many mirrored: right in a share of k, at confidence p."""
    label = np.r_[np.arange(n) < round(k * n), np.arange(n) >= round(k * n)].astype(int)
    return cc.Predictions.from_arrays(label, np.r_[np.full(n, p), np.full(n, 1 - p)], name=name, ids=np.arange(2 * n), **more)


OVER = model(0.9, 0.75, name="over")
KINDS = {
    "V0": model(0.8, 0.5, n=20),
    "V1": model(0.8, 0.8),
    "V2": model(0.9, 0.885, n=20_000),
    "over": OVER,
    "under": model(0.7, 0.9),
    "extreme": model(0.99, 0.8),
    "collapse": model(0.55, 0.55),
    "confidences": cc.Predictions.from_top_label([0.9] * 200 + [0.6] * 200, [1] * 150 + [0] * 50 + [1] * 160 + [0] * 40, name="t"),
}


class Reader(HTMLParser):
    """Elements, attributes and the text outside style."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.words, self.inside = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self.inside:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def named(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module", params=list(KINDS))
def analysis(request):
    return cc.analyze(KINDS[request.param])


@pytest.fixture(scope="module")
def report(analysis):
    return reported([analysis], date=DAY, note="A remark.", audience="the board", training="no")


@pytest.fixture(scope="module")
def page(report):
    return to_html(report)


def html(*analyses, **options):
    return report_html(analyses, date=DAY, **options)


def section(report, heading):
    return next(s.lines for s in (*report.below, *report.beside, report.caveats) if s.heading == heading)


def test_stands_alone_without_script(page):
    read = Reader(page)
    assert not {"script", "img", "link", "iframe", "object"} & {tag for tag, _ in read.elements}
    assert not [v for _, attrs in read.elements for k, v in attrs.items() if k.startswith("on")]
    # What looks like an address is only the name of a notation, or points into the page.
    refers = [(k, v) for _, attrs in read.elements for k, v in attrs.items() if v and ("//" in v or k in ("src", "href", "xlink:href"))]
    assert all(k.startswith("xmlns") or v.startswith("#") for k, v in refers)
    assert "@import" not in page
    assert "url(" not in page.replace("url(#", "")
    assert len(page.encode()) < 300_000


def test_the_same_report_gives_the_same_page():
    assert html(cc.analyze(OVER), note="A remark.") == html(cc.analyze(OVER), note="A remark.")


def test_has_the_bones_of_an_accessible_page(page):
    read = Reader(page)
    assert read.named("html") == [{"lang": "en"}]
    levels = [int(tag[1]) for tag, _ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert set(levels[1:]) == {2}
    assert len(read.named("main")) == len(read.named("table")) == len(read.named("caption")) == 1
    assert {t["scope"] for t in read.named("th")} == {"col", "row"}
    assert all(s["role"] == "img" and s["aria-labelledby"] for s in read.named("svg"))
    assert len(read.named("svg")) == 2
    ids = [attrs["id"] for _, attrs in read.elements if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_every_word_of_the_content_is_on_the_page_and_in_the_pdf(report, page):
    r = report
    words = [
        r.title,
        r.date,
        r.audience,
        r.to_do,
        r.verdict,
        r.how_to_read,
        r.key,
        r.note,
        r.footer,
        *(v for _, v in r.facts),
        *r.table.header,
    ]
    words += [
        *(line for s in (*r.below, *r.beside, r.caveats) for line in (s.heading, *s.lines)),
        *(c for row in r.table.rows for c in row),
    ]
    text, data = Reader(page).text, repr(pdf._data(replace(r, charts=())))
    for words_of in words:
        assert " ".join(words_of.split()) in text
        assert repr(words_of)[1:-1] in data
    assert "nan" not in re.sub(r"finance|\bnan\w+", "", text.lower())
    assert not [w for w in FORBIDDEN if w in " ".join(words).replace("perfect calibration", "")]


def test_the_verdict_and_the_meaning_keep_their_measure(analysis):
    assert len(verdict_words(analysis)[0].split()) <= 35
    wordy = replace(analysis, name="a " * 40)
    assert len(verdict_words(wordy)[0].split()) <= 35
    assert verdict_words(analysis)[0].startswith(analysis.name)
    assert len(MEANING.split()) <= 40


def test_what_has_no_room_in_the_verdict_is_not_lost():
    a = cc.analyze(KINDS["V1"])
    said, left = verdict_words(a)
    assert left
    assert left[-1].startswith("This does not show that each range is right")
    assert set(left) <= set(reported([a]).caveats.lines)
    assert said.count("fit what the model claims") == 1


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("over", "Of every 100 predictions, 10 should be wrong by the model's own figures; 25 were."),
        ("V1", "Of every 100 predictions, 20 should be wrong by the model's own figures; 20 were."),
        ("extreme", "Of every 1,000 predictions, 10 should be wrong by the model's own figures; 200 were."),
        ("V0", "Of all 40 predictions, 8 should be wrong by the model's own figures; 20 were."),
    ],
)
def test_plain_terms_count_errors(kind, text):
    assert section(reported([cc.analyze(KINDS[kind])]), "In plain terms") == (text,)


def test_plain_terms_speak_of_no_more_predictions_than_there_are():
    # 300 rows at 99%: 3 errors expected, 1 found, of all 300 and not of 10,000
    one, few = cc.Predictions.from_top_label([0.99] * 300, [1] * 299 + [0]), cc.Predictions.from_top_label([0.7], [1])
    found = [section(reported([cc.analyze(m)]), "In plain terms")[0] for m in (one, few)]
    assert [re.findall(r"\d[\d.]*\b", said) for said in found] == [["300", "3", "1"], ["1", "0.3", "0"]]
    assert found[0].startswith("Of all 300 predictions, ")
    assert found[0].endswith("; 1 was.")
    assert found[1].startswith("Of 1 prediction, ")


def test_plain_terms_of_weighted_rows_are_shares():
    # 9 right rows of weight 1 and a wrong one of weight 3: 3/12 are wrong, where 20% are expected
    weighted = cc.Predictions.from_top_label([0.8] * 10, [1] * 9 + [0], sample_weight=[1] * 9 + [3])
    (said,) = section(reported([cc.analyze(weighted)]), "In plain terms")
    assert said.startswith("Of every 100 predictions (weighted), ")
    assert re.findall(r"\d[\d.]*\b", said) == ["100", "20.0", "25.0"]


def test_a_method_keeps_its_name_and_nothing_has_a_minus_before_it():
    found = cc.remedies(OVER, methods=["platt"])
    tested = " ".join(section(reported([cc.analyze(OVER)], remedies=found), "Pattern and remedy"))
    assert "Platt scaling helps" in tested
    # 0.75 − 0.9 before; after, what is left of it rounds to nothing
    assert re.search(r"gap goes from −15\.0 to (0\.0|[+−]0\.1) points", tested)


def test_plain_terms_of_other_views_count_events():
    # Positive view: mean of 0.9 and 0.1, and of 0.75 and 0.25.
    lines = section(reported([cc.analyze(OVER, cc.Settings(view="positive"))]), "In plain terms")
    assert lines[0] == "On average, of every 100 predictions, 50 should be “1” by the model's own figures; 50 were."
    # On average nothing is off, so a range that is stands beside it: of 1,000 rows at 10%, 100 expected and 250 found.
    assert lines[1:] == ("Of 1,000 predictions made at 6.7–13.3% probability, 250 were “1”; about 100 would be expected.",)


def test_a_crossing_curve_is_told_range_by_range():
    # 95% claimed and 85% right in one half of the rows, 60% claimed and 70% right in the other.
    n = 2000
    p = np.r_[np.full(n, 0.95), np.full(n, 0.6)]
    y = np.r_[np.arange(n) < 0.85 * n, np.arange(n) < 0.7 * n].astype(int)
    a = cc.analyze(cc.Predictions.from_arrays(y, p, name="c"))
    assert a.pattern.name == "non_uniform_overconfidence"
    assert section(reported([a]), "In plain terms") == (
        "Where it claims about 95%, 85 in 100 are right; where it claims about 60%, 70 in 100 are right.",
    )


def test_base_rate_and_worth():
    # The base rate is ½; Brier of it ¼.  Brier score of the model: ¾·0.1² + ¼·0.9² = 0.21, so 1 − 0.21/0.25 = 16% better.
    lines = section(reported([cc.analyze(OVER)]), "Beyond the base rate")
    assert lines[0] == "Base rate: 50.0% of the rows are “1”."
    assert lines[1].startswith("The error of the probabilities (Brier score) is 16.0% smaller than that of a forecast that gives every row")
    classes = cc.Predictions.from_arrays(["a", "a", "b", "c"] * 50, np.tile([0.6, 0.3, 0.1], (200, 1)), classes=["a", "b", "c"])
    assert section(reported([cc.analyze(classes)]), "Beyond the base rate")[0] == "Most frequent of 3 classes: “a”, 50.0% of the rows."
    same = cc.Predictions.from_arrays([1] * 200, [0.9] * 200)
    assert "nothing can be said" in section(reported([cc.analyze(same)]), "Beyond the base rate")[1]


def test_threshold_counts_errors_expected_and_found():
    # All 2,000 rows have confidence 0.9: 200 errors expected, 500 found.
    lines = section(reported([cc.analyze(OVER, cc.Settings(threshold=0.5))]), "At your threshold")
    assert lines[0] == (
        "Whoever acts on every row with confidence above 0.5 acts on 2,000 of 2,000 rows (100%). "
        "Of these the model expects 200 wrong predictions; 500 were found."
    )
    none = section(reported([cc.analyze(OVER, cc.Settings(threshold=0.95))]), "At your threshold")
    assert "nothing is acted on" in none[0]
    assert "At your threshold" not in [s.heading for s in reported([cc.analyze(OVER)]).beside]


def test_data_and_period(tmp_path):
    path = tmp_path / "scores.csv"
    rows = "".join(f"{i % 2},{0.2 + 0.6 * (i % 2)},2024-{1 + i // 100:02d}-03\n" for i in range(400))
    path.write_text("y_true,y_prob,date\n" + rows)
    found = cc.read(path, mapping=cc.Mapping(time="date"))[0]
    facts = reported([cc.analyze(found, with_period(found, cc.Settings()))]).facts
    assert facts[0] == ("Data", "scores.csv, 400 rows")
    assert reported([cc.analyze(found)]).footer.endswith(f" SHA-256: scores.csv {found.source['sha256']}.")
    assert facts[1][1].startswith("2024-01-03 to 2024-04-03. The results hold for cases like these")
    plain = reported([cc.analyze(OVER)]).facts
    assert plain[0] == ("Data", "2,000 rows, not read from a file")
    assert plain[1][1].startswith("not known. The results hold")


def test_remedy_with_its_held_out_effect():
    a = cc.analyze(OVER)
    assert section(reported([a]), "Pattern and remedy")[-1] == "Not tested on these rows."
    found = cc.remedies(OVER, methods=["temperature"])
    said = section(reported([a], remedies=found), "Pattern and remedy")[-1]
    assert said.startswith("Tested on rows that the fit had not seen (5 folds): temperature scaling helps. It lowers the error of")
    assert "the gap goes from −15.0 to " in said
    assert section(reported([a], remedies="Too few rows."), "Pattern and remedy")[-1] == "Not tested on these rows: Too few rows."
    with pytest.raises(InputError, match="'other' was tested, but the report is about 'over'"):
        reported([a], remedies=cc.remedies(model(0.9, 0.75, name="other"), methods=["temperature"]))


def test_models_side_by_side():
    good = model(0.75, 0.75, name="good")
    both = cc.compare([OVER, good])
    r = reported(both.analyses, comparison=both)
    assert [row[0] for row in r.table.rows] == ["over", "good"]
    assert r.which.startswith("good makes a smaller error than over: log loss lower by 0.")
    assert r.differences.startswith("By Brier score too: lower by 0.")
    assert r.differences.endswith("Both were judged on the same 2,000 rows, matched by their id.")
    assert [row[1] for row in r.table.rows] == ["overconfident", "none found"]
    alone, unmatched = reported([both.analyses[0]], comparison=both), reported(both.analyses, comparison="ids repeat.")
    assert (alone.which, alone.differences) == ("", "")
    assert (unmatched.which, unmatched.differences) == ("Not compared with each other: ids repeat.", "")


def test_what_to_do_names_its_model_among_several():
    one, two = (replace(cc.analyze(OVER), name=n) for n in ("first", "second"))
    assert reported([one]).to_do_for == "What to do"
    several = reported([one, two])
    assert several.to_do_for == "What to do with first"
    assert "<strong>What to do with first:</strong>" in to_html(several)


def test_the_title_names_every_model():
    named = [cc.analyze(model(0.9, 0.75, n=60, name=n)) for n in ("a", "b", "c", "d" * 40)]
    titles = [reported(named[:k]).title for k in (1, 2, 3, 4)]
    assert titles[:3] == ["Calibration of a", "Calibration of a, beside b", "Calibration of a, beside b and c"]
    assert titles[3] == f"Calibration of a, beside b, c and {'d' * 10}…{'d' * 9}"


def test_what_is_known_about_the_data_of_each_model_is_told_by_its_name():
    # 1,000 rows at exactly 100%, of which 250 are wrong: impossible by the model, and a log loss that had to be cut
    sure = model(1.0, 0.75, n=500, name="sure")
    good = model(0.75, 0.75, n=500, name="good").but(notes=("Label read from column y.",))
    lines = reported([cc.analyze(good), cc.analyze(sure)]).caveats.lines
    (of_sure,) = [line for line in lines if line.startswith("About the data of sure: ")]
    assert "1,000 rows claim exactly 100%; 250 of them were wrong" in of_sure
    assert "was raised to 2⁻⁵² for 250 rows" in of_sure
    assert [line for line in lines if line.startswith("About the data of good: ") and line.endswith(" Label read from column y.")]
    turned = reported([cc.analyze(sure), cc.analyze(good)]).caveats.lines  # how another model's file was read is told with that model
    assert not [line for line in turned if "Label read from" in line]
    both = reported([cc.analyze(m.but(notes=("5 of 500 rows left out.",))) for m in (good, good.but(name="c"))]).caveats.lines
    assert [line for line in both if line.startswith("About the data of all models: ") and "5 of 500 rows left out." in line]


def test_notes_of_a_report_name_no_option_of_the_command_line():
    said = reported([cc.analyze(OVER.but(notes=("Column 'y' was taken as the label (another: --label COL).",)))]).caveats.lines
    assert said[-1].startswith("About the data: ")
    assert said[-1].endswith(" Column 'y' was taken as the label.")


def test_several_models_better_than_the_first_are_not_called_better_than_each_other():
    made = [OVER, *(model(k, 0.75, name=n) for k, n in ((0.75, "b"), (0.76, "c"), (0.95, "d")))]
    both = cc.compare(made)
    said = reported(both.analyses, comparison=both).which
    assert [f"{n} makes a smaller error than over" in said for n in "bc"] == [True, True]
    assert "over makes a smaller error than d" in said
    assert said.endswith("Each was compared with over, not with the others.")


def test_training_is_always_said():
    a = cc.analyze(OVER)
    for answer in ("yes", "no", "unknown"):
        assert reported([a], training=answer).caveats.lines[0] == training.training_statement(answer)
    assert training.training_caveat("no") is None
    assert training.training_caveat("unknown") == training.training_statement("unknown")


def test_training_of_several_models():
    a, b = (cc.analyze(model(0.9, 0.75, name=name)) for name in "ab")
    same = reported([a, b], training="no").caveats.lines
    assert same[0] == "By the analyst's word, these rows were not used to train or tune these models."
    other = reported([a, b], training=["unknown", "no"]).caveats.lines
    assert other[0].startswith("It is not known whether a was trained or tuned on these rows; if so, it will")
    assert other[1] == "By the analyst's word, these rows were not used to train or tune b."


def test_a_column_that_could_be_the_time_is_named():
    months = {"month": [f"2024-{1 + i % 12:02d}" for i in range(2000)], "code": [f"20{i % 3}" for i in range(2000)]}
    rows = model(0.9, 0.75, groups=months)
    assert times_in_groups(rows) == ("month",)
    assert times_in_groups(rows.but(time=np.arange(2000))) == ()


def test_a_change_over_time_names_its_ends():
    # At 90%: of 1,000 rows in 2023 all are right (+10.0 points), of 1,000 in 2024 half are (−40.0).
    right, year = np.r_[np.ones(1000), np.arange(1000) < 500].astype(int), [2023] * 1000 + [2024] * 1000
    rows = cc.Predictions.from_top_label([0.9] * 2000, right, time=year, name="t")
    lines = reported([cc.analyze(rows, with_period(rows, cc.Settings()))]).caveats.lines
    said = "The gap is not the same throughout the period (2 periods compared, p ≤ 0.001): from −40.0 points (2024) to +10.0 points (2023)."
    assert said in lines


def test_costs_at_a_threshold():
    # All 2,000 rows are acted on and 500 of them wrong: 500 · 4, no review; 200 · 4 by the model's figures.
    lines = section(reported([cc.analyze(OVER, cc.Settings(threshold=0.5, cost_error=4, cost_review=1))]), "At your threshold")
    assert any("costs 2,000 in these rows" in line and " 800 " in line for line in lines)


def test_another_view_says_what_the_verdict_judges():
    a = cc.analyze(OVER, cc.Settings(view="positive"))
    said = reported([a]).verdict
    assert said.startswith("over is overconfident. Judged by the predicted class, it says 90% on average and is right 75%")
    assert "15.0 points too sure" in said
    assert "the verdict judges the predicted class" in " ".join(reported([a]).caveats.lines)
    assert "Judged by" not in reported([cc.analyze(OVER)]).verdict


def test_too_much_is_refused():
    a = cc.analyze(OVER)
    with pytest.raises(InputError, match="one to 4 models, not 5"):
        reported([a] * 5)
    with pytest.raises(InputError, match="not 0"):
        reported([])
    with pytest.raises(InputError, match="same settings"):
        reported([a, cc.analyze(OVER, cc.Settings(n_bins=10))])
    assert reported([a], note="x" * MOST_NOTE).note == "x" * MOST_NOTE
    with pytest.raises(InputError, match="note has 281 characters; the report has room for 280"):
        reported([a], note="x" * (MOST_NOTE + 1))
    with pytest.raises(InputError, match="heading has 121"):
        reported([a], heading="x" * 121)
    assert reported([a], note=" two\n lines ").note == "two lines"


def hostile():
    rows = {"classes": (f"no {EVIL}", f"yes {EVIL}")}
    label = np.where(np.r_[np.arange(500) < 300, np.arange(500) < 100], rows["classes"][1], rows["classes"][0])
    made = cc.Predictions.from_arrays(label, np.r_[np.full(500, 0.9), np.full(500, 0.1)], name=EVIL, **rows)
    return made.but(source={"file": f"{EVIL}.csv", "sha256": "ab"}, notes=(f"Column {EVIL} was left out.",))


def test_names_from_files_are_never_markup():
    a = cc.analyze(hostile(), cc.Settings(view="positive"))
    page = html(a, heading=f"About {EVIL}", audience=EVIL, note=EVIL)
    read = Reader(page)
    assert not read.named("img")
    assert "<img" not in page
    assert EVIL in read.text
    assert read.text.count(EVIL) >= 4  # heading (twice: in the title), reader, note, note on the data


@pytest.mark.parametrize("long", ["W" * 300, "漢" * 300, "name-with-parts " * 30])
def test_long_names_are_shortened_in_the_middle(long):
    a = replace(cc.analyze(OVER), name=f"{long} (2)")
    cell = reported([a]).table.rows[0][0]
    assert len(cell) <= NAME_LENGTH
    assert cell.endswith(" (2)")
    assert short("abcdefghij", 5) == "ab…ij"


@functools.cache
def fullest(name="model"):
    """As much as a report can be asked to say."""
    year = np.where(np.arange(2000) % 1000 < 790, 2020, 2021)  # the right rows come first: the gap changes
    groups = {f"{(name * 60)[:60]}{c}": [f"{(name * 60)[:60]}{i // 10 % 3}" if i % 100 else "few" for i in range(2000)] for c in range(3)}
    made = [model(0.99, 0.8, name=f"{(name * 60)[:60]}{k}", time=None if k else year, groups=groups) for k in range(4)]
    settings = cc.Settings(view="positive", threshold=0.9, cost_error=40, cost_review=3, on_request=("groups",))
    analyses = [cc.analyze(m, with_period(m, settings)) for m in made]
    analyses = [replace(a, source={"file": f"{(name * 60)[:60]}{k}.csv", "sha256": f"{k:064d}"}) for k, a in enumerate(analyses)]
    # Notes of all four: on how a file was read, and those that change how the numbers are read.
    read, telling = (tuple(f"{k} {said}{name * 90}" for k in range(6)) for said in ("", "rows left out "))
    analyses = [replace(a, notes=(*(f"{a.name} {note}" for note in telling), *read)) for a in analyses]
    words = {"heading": (name * 120)[:120], "audience": (name * 80)[:80], "note": (name * 280)[:280], "date": DAY}
    words |= {"training": ["yes", "no", "unknown", "no"], "classes": "The predicted class stays the same in every row. " * 2}
    return analyses, {**words, "comparison": cc.compare(made, settings), "remedies": cc.remedies(made[0])}


def pages(data):
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", data))


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("name", ["ordinary words ", "W", "漢"])
def test_prints_on_one_sheet(tmp_path, name):
    analyses, options = fullest(name)
    assert sheets(report_html(analyses, **options), tmp_path) == 1


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_short_one_prints_on_one_sheet(tmp_path):
    assert sheets(html(cc.analyze(OVER)), tmp_path) == 1


def sheets(page, folder):
    """How many Chromium prints it on."""
    source, target = folder / "page.html", folder / "page.pdf"
    source.write_text(page, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder / 'profile'}"]
    subprocess.run([CHROMIUM, *flags, f"--print-to-pdf={target}", source.as_uri()], capture_output=True, timeout=120, check=True)
    return pages(target.read_bytes())


def heights(report):
    """Width from which on a rule of the preview holds → height of the frame."""
    return {int(w): int(h) for w, h in re.findall(r"min-width: (\d+)px\) { \.x iframe { height: (\d+)px", preview_style(report, ".x"))}


def test_the_preview_is_higher_where_there_are_more_words_and_where_it_is_narrower():
    analyses, options = fullest()
    few, many = heights(reported([cc.analyze(OVER)])), heights(reported(analyses, **options))
    assert all(few[w] < many[w] < 25_000 for w in few)
    assert list(few) == sorted(few)
    one_column, two_columns = ([h for w, h in few.items() if (w <= 608) is narrow] for narrow in (True, False))
    assert min(one_column) > max(two_columns)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("kind", ["one", "full"])
def test_the_preview_shows_all_of_the_page(kind, tmp_path):
    analyses, options = fullest() if kind == "full" else ([cc.analyze(OVER)], {"date": DAY})
    r = reported(analyses, **options)
    widths = (278, 328, 435, 614, 726, 1000)
    frame = f"<iframe srcdoc='{escape(to_html(r))}' style='border: 0; width: 100%'></iframe>"
    frames = "".join(f"<div class='x' style='width: {width}px'>{frame}</div>" for width in widths)
    measure = "e => [e.clientHeight, e.contentDocument.querySelector('main').offsetHeight].join(' ')"
    script = f"<script>onload = () => {{ document.title = [...document.querySelectorAll('iframe')].map({measure}) }}</script>"
    page = f"<title>wait</title>{preview_style(r, '.x')}{script}<body style='margin: 0'>{frames}"
    (tmp_path / "frame.html").write_text(page, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1200,900"]
    done = subprocess.run(
        [CHROMIUM, *flags, "--dump-dom", (tmp_path / "frame.html").as_uri()], capture_output=True, timeout=120, check=True
    )
    found = re.search(r"<title>(.*?)</title>", done.stdout.decode())[1].split(",")
    for width, heights_of in zip(widths, found, strict=True):
        shown, needed = map(int, heights_of.split())
        assert needed <= shown <= 1.25 * needed, width


@pytest.mark.parametrize("name", ["ordinary words ", EVIL, "W"])
def test_pdf_is_one_tagged_page(name):
    pytest.importorskip("typst")
    analyses, options = fullest(name)
    made = pdf.report_pdf(analyses, **options)
    assert made.startswith(b"%PDF-")
    assert pages(made) == 1
    assert b"/MarkInfo" in made
    assert b"/Lang" in made


def test_the_same_report_gives_the_same_pdf():
    pytest.importorskip("typst")
    assert len({pdf.report_pdf([cc.analyze(OVER)], date=DAY) for _ in range(2)}) == 1


def test_without_typst_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(pdf, "can_write", lambda: False)
    with pytest.raises(InputError, match=re.escape('pip install "calibcore[pdf]"')):
        pdf.report_pdf([cc.analyze(OVER)])
