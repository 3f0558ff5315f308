"""The page Compare: sentences first, then forest plots of the differences that decide."""

import json

from test_app import CSV, charts, csv_file, read, start, words

import calibcore as cc
from calibcore.report.compare_words import compared_lines
from calibcore.report.which import difference_sentence

PAGE = "views/compare.py"
TWO = [("a.csv", csv_file(), CSV), ("b.csv", csv_file(shift=0.1), CSV)]


def forests(app):
    return [c for c in charts(app) if json.loads(c.proto.spec)["layout"]["xaxis"]["title"]["text"].find(" minus that of ") >= 0]


def test_one_forest_plot_a_score_with_the_differences_of_the_comparison():
    app = start(PAGE, TWO)
    assert not app.exception
    found = cc.compare([read(data, name) for name, data, _ in TWO]).differences[0]
    drawn = forests(app)
    assert [c.proto.alt.partition(" against ")[0] for c in drawn] == ["Log loss", "Brier score", "Gap"]
    for chart, expected in zip(drawn, (found.log_loss, found.brier, found.gap), strict=True):
        (points,) = (t for t in json.loads(chart.proto.spec)["data"] if t.get("name") == "estimate")
        assert points["x"] == [expected.value]


def test_the_sentence_comes_before_every_table_and_chart():
    app = start(PAGE, TWO)
    sentence = difference_sentence(cc.compare([read(data, name) for name, data, _ in TWO]).differences[0], "a")
    blocks = [b.type for b in app.main.children.values()]
    assert sentence in words(app)
    first = next(
        i
        for i, b in enumerate(app.main.children.values())
        if b.type == "markdown" and "a makes a smaller error" in b.value.replace("\\", "")
    )
    assert first < min(i for i, kind in enumerate(blocks) if kind in ("arrow_table", "table", "plotly_chart", "flex_container"))


def test_clipped_log_losses_are_counted_and_the_brier_score_decides():
    sure = csv_file().decode().replace("0.0750", "0").encode()  # says never where 2 of 20 happen
    app = start(PAGE, [("a.csv", csv_file(), CSV), ("b.csv", sure, CSV)])
    assert "gave probability 0 (or nearly 0) to what happened in 2 rows; log loss cannot judge such rows" in words(app)
    assert "Brier score" in words(app).partition("gave probability 0")[0]
    assert "without an interval: b" in forests(app)[0].proto.alt


def test_models_that_conflict_leave_the_others_their_plots():
    flipped = csv_file(yes="0", no="1")
    app = start(PAGE, [TWO[0], ("f.csv", flipped, CSV), TWO[1]])
    assert "different labels" in words(app)
    assert len(forests(app)) == 3
    assert not app.exception


def test_one_model_has_no_differences():
    app = start(PAGE, TWO[:1])
    assert not forests(app)
    assert "Is the difference real?" not in words(app)


def test_of_several_models_one_sentence_says_who_scores_worse_and_on_which_rows():
    files = [*TWO, ("c.csv", csv_file(shift=0.05), CSV)]
    said = words(start(PAGE, files))
    (line,) = compared_lines([cc.compare([read(data, name) for name, data, _ in files])])
    assert line.startswith("b scores worse than a")
    assert line in said
    assert said.count("were judged") == 1


def test_models_of_different_kinds_are_compared_by_the_gap_alone():
    # 90 % claimed and 50 % right, beside a file that claims what happens: only the confidence of the first is known
    alone = "confidence,correct\n" + "\n".join(f"0.9,{i % 2}" for i in range(400))
    app = start(PAGE, [TWO[0], ("d.csv", alone.encode(), CSV)])
    assert not app.exception
    assert [c.proto.alt.partition(" against ")[0] for c in forests(app)] == ["Gap"]
    assert words(app).count("have no score in common, so only the gap can be compared") == 1
    assert "Log loss and Brier score decide" not in words(app)
    assert "only the gap is compared." not in words(app)  # as a note, it would be said again
