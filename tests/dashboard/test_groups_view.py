"""The page Groups and classes: nothing is looked at before a column is chosen; what is shown is what calibcore gives."""

import contextlib
import io
import json
import re
import shlex

import pytest
import streamlit
from test_app import CSV, alts, charts, read, start, words

import calibcore as cc
from calibcore.cli import main
from calibcore.io import read_bytes
from calibcore.report.group_words import group_table

PAGE = "views/groups.py"


def lines(header, rows):
    return "\n".join([header, *(",".join(map(str, r)) for r in rows)]).encode()


# Everybody says 80%: in a 48 of 60 are right, in b 30 of 60, in c 4 of 5.
ROWS = [(s, i < right) for s, n, right in (("a", 60, 48), ("b", 60, 30), ("c", 5, 4)) for i in range(n)]
DAYS = [f"2024-{1 + i // 25:02d}-{1 + i % 25:02d}" for i in range(125)]
SITES = (
    "m.csv",
    lines("true,pred,confidence,site,day", [("x" if ok else "y", "x", 0.8, s, DAYS[i]) for i, (s, ok) in enumerate(ROWS)]),
    CSV,
)
PLAIN = ("p.csv", lines("true,pred,confidence", [("x" if i % 5 else "y", "x", 0.8) for i in range(100)]), CSV)


def choose(app, column="site"):
    app.selectbox(key="group").set_value(column).run()
    assert not app.exception
    assert not app.error
    return app


def table(app, i=0):
    found = app.table[i].value
    return [[re.sub(r"\\", "", v) for v in row] for row in found.to_numpy().tolist()]


def test_no_column_is_chosen_for_the_reader():
    app = start(PAGE, [SITES])
    assert app.selectbox(key="group").value is None
    assert not charts(app)
    assert "Choose one column first; trying many finds differences by luck." in words(app)


def test_groups_are_told_drawn_and_listed():
    app = choose(start(PAGE, [SITES]))
    assert "3 groups looked at, 1 of them with fewer than 50 rows and not judged" in words(app)
    assert "In b, 30 of 60 rows were right; the model expects 48. Gap −30.0 points" in words(app)
    assert "Listed, not judged, with fewer than 50 rows: c (5 rows)." in words(app)
    assert alts(app).startswith("Gap by site, 2 judged groups: overconfident in b.")
    found = cc.by_group(read(SITES[1], "m.csv"), "site")
    assert table(app) == [list(r) for r in group_table(found).rows]


def test_the_settings_reach_the_groups():
    query = {"bins": "5", "strategy": "Equal mass", "level": "80", "minrows": "60"}
    app = choose(start(PAGE, [SITES], query))
    rows = read(SITES[1], "m.csv")
    bins = cc.Settings(n_bins=5, strategy="equal_mass").partition(rows.profile())
    found = cc.by_group(rows, "site", partition=bins, level=0.8, minimum=60)
    assert table(app) == [list(r) for r in group_table(found).rows]
    app.number_input(key="minrows").set_value(100).run()
    assert "3 of them with fewer than 100 rows and not judged" in words(app)
    assert not app.exception


def test_a_file_without_groups_says_how_to_name_them():
    app = start(PAGE, [PLAIN])
    assert "To name one, press Change beside the file in the sidebar" in words(app)
    assert "choose the column under Time" in words(app)
    assert not app.exception


def test_a_column_with_too_many_values_is_not_offered():
    rows = [("x" if i % 5 else "y", "x", 0.8, f"v{i % 60}") for i in range(300)]
    app = start(PAGE, [("m.csv", lines("true,pred,confidence,visit", rows), CSV)])
    name_columns(app, groups=["visit"])
    assert "Not offered: visit (60 values). A column needs 2 to 50 different values; only numbers may be more" in words(app)
    assert not app.exception


def test_ages_are_offered_cut_at_their_quartiles():
    # 300 rows aged 0…59, five of each: quarters of 75 rows; 4 of 5 rows of each age are right
    rows = [("x" if i // 60 else "y", "x", 0.8, i % 60) for i in range(300)]
    app = start(PAGE, [("m.csv", lines("true,pred,confidence,age", rows), CSV)])
    name_columns(app, groups=["age"])
    app.session_state["takeaway"] = True
    choose(app, "age")
    assert "“age” is cut at its quartiles: 4 groups looked at." in words(app)
    assert [row[:2] for row in table(app)] == [["0–14", "75"], ["15–29", "75"], ["30–44", "75"], ["45–59", "75"]]
    assert " --group age " in app.code[1].value


def name_columns(app, groups=None, time=None):
    """Say under Columns what the groups and the times are."""
    next(b for b in app.button if b.label == "Change").click().run()
    if groups is not None:
        app.multiselect(key="role groups").set_value(groups).run()
    if time is not None:
        app.selectbox(key="role time").set_value(time).run()
    next(b for b in app.button if b.label == "Read the file").click().run()
    assert not app.exception


def test_periods_are_shown_once_the_time_is_named():
    app = start(PAGE, [SITES])
    name_columns(app, time="day")
    assert "Over time" in words(app)
    assert not app.error
    assert "period" in alts(app) or "over time" in alts(app)
    app.segmented_control(key="period").set_value("Month").run()
    app.number_input(key="minrows").set_value(30).run()  # 25 rows a month: none is judged, which is said
    assert "none of 5 periods has the 30 rows" in alts(app)
    app.segmented_control(key="period").set_value("Quarter").run()
    # 25 days a month from January to May: 75 rows in the first quarter, 50 in the second
    found = cc.by_period(read_with_time(), periods="quarter", minimum=30)
    assert found.text in words(app)
    assert [p.n for p in found.periods] == [75, 50]
    app.segmented_control(key="period").set_value("Day").run()
    assert "There are 125 periods; at most 50 are looked at." in words(app)


def read_with_time():
    rows = read(SITES[1], "m.csv")
    return cc.Predictions.from_top_label(rows.confidence, rows.correct, time=DAYS)


def weather(n=300):
    """a is always said to be likelier than it is."""
    rows = [(("a", "b", "c")[i % 3], 0.6, 0.3, 0.1) for i in range(n)]
    return ("w.csv", lines("label,prob_a,prob_b,prob_c", rows), CSV)


def test_classes_side_by_side_and_the_worst_named():
    app = start(PAGE, [weather()])
    shown = {m.label: m.value for m in app.metric}
    # a is predicted with 0.6 and right 1/3: 0.2667; one against the rest |1/3 − 0.6|, |1/3 − 0.3|, |1/3 − 0.1|, mean 0.1778
    assert shown == {"Top-label ECE": "0.2667", "Mean classwise ECE": "0.1778"}
    assert "Farthest above its chance level is “a”: ECE 0.2667" in words(app)
    assert alts(app).startswith("Classwise ECE of w")


def test_choosing_a_class_shows_it_on_every_page_and_clearing_goes_back():
    app = start(PAGE, [weather()])
    app.selectbox(key="class shown").set_value("b").run()
    assert not app.exception
    assert app.segmented_control(key="view").value == "One class"
    assert app.selectbox(key="class").value == "b"
    assert "Every page now shows b against the rest" in words(app)
    assert {m.label: m.value for m in app.metric}["Top-label ECE"] == "0.2667"  # whatever the view
    app.switch_page("views/overview.py").run()
    assert {m.label: m.value for m in app.metric}["ECE"] == "0.0333"
    app.switch_page(PAGE).run()
    assert app.selectbox(key="class shown").value == "b"
    app.selectbox(key="class shown").set_value(None).run()
    assert app.segmented_control(key="view").value == "Confidence"
    assert not app.exception


def test_a_click_on_a_class_chooses_it(monkeypatch):
    # the test harness draws no chart, so the call that the browser makes is made here
    drawn = {}

    def plotly_chart(_figure, *, key, on_select, **_):
        drawn[key] = on_select

    monkeypatch.setattr(streamlit, "plotly_chart", plotly_chart)
    clicked = {"selection": {"points": [{"customdata": {"0": 1}}]}}  # a dict with string keys; the second class is b
    app = start(PAGE, [weather()])
    (key,) = (k for k in drawn if k.startswith("classes chart"))
    state = {key: clicked}
    monkeypatch.setattr(streamlit, "session_state", state)
    drawn[key]()
    assert state == {key: clicked, "view": "One class", "class": "b"}
    state[key] = {"selection": {"points": []}}  # a second click takes the browser's selection back, and chooses nothing
    del state["view"]
    drawn[key]()
    assert "view" not in state
    monkeypatch.undo()
    app.segmented_control(key="view").set_value("One class").run()
    assert not app.exception


def test_the_positive_view_names_its_class_in_the_groups():
    # P(1) = 80% on average: in a 48 of 60 happened, in b 30 of 60
    data = lines(
        "y_true,y_prob,site",
        [(int(i < k), 0.79 + 0.02 * (i % 2), s) for s, k in (("a", 48), ("b", 30)) for i in range(60)] + [(0, 0.1, "c")],
    )
    app = choose(start(PAGE, [("m.csv", data, CSV)], {"view": "Positive class"}))
    assert "In b, 30 of 60 rows were “1”; the model expects 48." in words(app)


def test_a_file_without_classes_says_so():
    app = start(PAGE, [PLAIN])
    assert "classes cannot be judged one by one" in words(app)


@pytest.mark.parametrize("page", [PAGE, "views/act.py"])
def test_names_are_never_markup(page):
    evil = "![x](https://evil.example/a.png) **b** $d$"
    rows = [("x" if i % 5 else "y", "x", 0.8, f"{evil} {i % 2}") for i in range(300)]
    app = start(page, [("m.csv", lines(f"true,pred,confidence,{evil}", rows), CSV)])
    if page == PAGE:
        choose(app, evil)
    for kind in ("title", "markdown", "caption", "error"):
        for element in app.get(kind):
            assert "](" not in element.value
            assert "**b**" not in element.value
    for shown in app.table:
        assert not any("](" in str(v) for v in [*shown.value.columns, *shown.value.to_numpy().ravel()])


def test_the_table_shown_is_the_one_taken_away():
    app = start(PAGE, [SITES])
    app.session_state["takeaway"] = True
    choose(app)
    python, shell = (c.value for c in app.code)
    assert "groups=('site',)" in python
    assert "on_request=('groups',)" in python
    assert " --group site " in shell
    assert " --request groups " in shell
    assert "as the command line does" not in words(app)
    app.number_input(key="minrows").set_value(60).run()
    assert "Results and code judge groups as the command line does: from 50 rows on" in words(app)


def test_with_times_page_python_and_shell_agree(tmp_path, monkeypatch):
    made = {}
    monkeypatch.setattr("dashboard.takeaway._file", lambda label, data, *_: made.update({label: data}))
    rows = [(f"2024-{1 + i % 4:02d}-{1 + i % 28:02d}", "ab"[i % 2], (i * 7) % 10 < i % 10, (i % 10 + 0.5) / 10) for i in range(400)]
    data = lines("when,site,y_true,y_prob", [(w, s, int(y), p) for w, s, y, p in rows])
    app = start(PAGE, [("m.csv", data, CSV)])
    name_columns(app, groups=["site"], time="when")
    app.session_state["takeaway"] = True
    choose(app)
    python, shell = (c.value for c in app.code)
    assert "on_request=('groups', 'periods')" in python
    (tmp_path / "m.csv").write_bytes(data)
    wanted = json.loads(made["All results (JSON)"]())
    assert set(wanted["models"][0]["on_request"]) == {"groups", "periods"}
    assert (
        wanted["models"][0]["on_request"]["groups"]["site"]["groups"]
        == cc.by_group(read_bytes(data, "m.csv", cc.Mapping(groups=("site",), time="when"))[0], "site").to_dict()["groups"]
    )
    monkeypatch.chdir(tmp_path)
    for run in (lambda: exec(compile(python, "again.py", "exec"), {}), lambda: main(shlex.split(shell)[1:])):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            run()
        assert without_source(json.loads(out.getvalue())) == without_source(wanted)


def without_source(tree):
    return {**tree, "models": [{k: v for k, v in m.items() if k != "source"} for m in tree["models"]]}


def test_the_view_of_a_yes_no_file_is_said():
    data = lines("y_true,y_prob", [(i % 2, (i % 10 + 0.5) / 10) for i in range(200)])
    said = words(start(PAGE, [("m.csv", data, CSV)]))
    assert "Judged here: the predicted class, “1” or “0”. For the probability of “1” itself choose View: Positive class." in said
    assert "Judged here" not in words(start(PAGE, [PLAIN]))
