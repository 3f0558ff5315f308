"""Profile files in the dashboard: every page stands, says what the numbers are worth, and where the rows would be needed."""

import functools
import json
import re
import shlex

import pytest
from made_profiles import KINDS, binary, bytes_of, file_of, profiles_of
from test_app import CSV, ROOT, csv_file, start, words

import calibcore as cc
from calibcore.cli import main
from calibcore.io import read_bytes
from calibcore.report import reduced_words
from calibcore.report.tables import ece_text

PAGES = sorted(f"views/{path.name}" for path in (ROOT / "dashboard" / "views").glob("*.py") if path.stem != "__init__")
PARQUET = "application/octet-stream"


def profile(kind="binary with groups", name="m.profile.parquet"):
    return (name, file_of(kind) if isinstance(kind, str) else kind, PARQUET)


@functools.cache
def session(kind):
    """One reader with one file, who visits the pages one after the other."""
    return start(files=[profile(kind)])


def sound(app):
    assert not app.exception
    assert [e.value for e in app.error] == []
    return app


def at(page, kind="binary with groups"):
    return sound(session(kind).switch_page(page).run())


def links(app):
    return [link.proto.label for link in app.main.get("page_link")]


# Every other page of the kinds that differ in what their numbers are worth, and not in which of them there are.
ALIKE = ("weighted", "float16, exact", "float64, exact")
VISITS = [(k, p) for i, k in enumerate(KINDS) for p in (PAGES[i % 2 :: 2] if k in ALIKE else PAGES)]


@pytest.mark.parametrize(("kind", "page"), VISITS)
def test_every_page_stands(kind, page):
    app = at(page, kind)
    assert len(app.title) == 1
    assert all(c.proto.alt.endswith(".") for c in app.get("plotly_chart"))


# Each view, each strategy, other bins and other ends, several at once: each run is one of the numbers of all pages.
SETTINGS = {
    "binary with groups": [("Positive class", "Equal mass", 15, "Upper edge"), ("One class", "Custom", 15, "Lower edge")],
    "five classes": [("One class", "Equal mass", 15, "Lower edge"), ("Confidence", "Equal width", 41, "Upper edge")],
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_every_setting_on_every_page(kind):
    app = start(files=[profile(kind)])
    assert {view for view, *_ in SETTINGS[kind]} | {"Confidence"} == set(app.segmented_control(key="view").options)
    for view, strategy, bins, closed in SETTINGS[kind]:
        app.segmented_control(key="view").set_value(view)
        app.segmented_control(key="strategy").set_value(strategy)
        app.slider(key="bins").set_value(bins)
        app.segmented_control(key="closed").set_value(closed).run()
        for page in PAGES:
            sound(app.switch_page(page).run())
            assert app.segmented_control(key="view").value == view, page


def test_the_files_line_says_what_it_is():
    app = at("views/overview.py")
    assert "Reduced profile: 3,000 rows in " in words(app)
    assert "cells; groups by site (3) and age (4)." in words(app)
    assert [b.label for b in app.sidebar.button if b.label.startswith("Change")] == []  # it has no columns to choose
    two = bytes_of(profiles_of(binary("a")), profiles_of(binary("b", seed=3)))
    app = start(files=[profile(two), profile("float16, exact", "half.profile.parquet")])
    assert "2 models." in words(app)
    assert "Profile: 3,000 rows in " in words(app)


def test_the_notes_stand_where_notes_stand():
    for page in ("views/overview.py", "views/bins.py", "views/act.py"):
        text = words(at(page))
        assert "Note: From a reduced profile: 3,000 rows in " in text
        assert "Note: Not available without the rows: pairing with another model" in text


def test_the_ece_carries_its_bound_where_bins_cut_cells():
    app = start(files=[profile()])
    (model,) = read_bytes(profile()[1], "m")
    ece = {m.label: m.value for m in app.metric}["ECE"]
    assert "±" not in ece
    app.segmented_control(key="strategy").set_value("Equal mass").run()
    found = {m.label: m.value for m in sound(app).metric}
    assert found["ECE"] == ece_text(cc.analyze(model, cc.Settings(strategy="equal_mass")))
    assert re.fullmatch(r"0\.\d{4} ± 0\.\d{4}", found["ECE"])
    assert found["MCE"].startswith("≈ ")


def test_the_rows_behind_a_bin():
    app = at("views/bins.py")
    assert "Choose a bin above, or click a bar, to see its rows." in words(app)
    app.session_state["calibcore"].kept_range = (13 / 15, 14 / 15)
    app = sound(app.run())
    assert reduced_words.ROWS_OF_BIN in words(app)
    assert not app.dataframe
    assert "Download these rows (CSV)" not in [b.label for b in app.get("download_button")]
    app = at("views/overview.py")
    assert "See the rows of this bin" not in links(app)


def unfold(app, key):
    """Open a fold whose content is made only then."""
    app.session_state[key] = True
    return sound(app.run())


def test_what_is_folded_away():
    app = start(files=[profile()])
    app = unfold(app, "other tools")
    assert reduced_words.OTHER_TOOLS in words(app)
    app = unfold(app, "takeaway")
    assert reduced_words.ROWS_CSV in words(app)
    labels = [b.proto.label for b in app.get("download_button")]
    assert "Bins (CSV)" in labels
    assert "All results (JSON)" in labels
    assert "All rows (CSV)" not in labels
    app = unfold(app, "diagram table")
    assert app.table


def test_the_code_gives_the_same_numbers(tmp_path, monkeypatch, capsys):
    """The command of the page Groups, run where the file is, prints the JSON that the page offers."""
    (tmp_path / "m.profile.parquet").write_bytes(profile()[1])
    app = start("views/groups.py", [profile()])
    app = sound(app.selectbox(key="group").set_value("site").run())
    app = unfold(app, "takeaway")
    python, command = (c.value for c in app.code)
    assert "mapping=cc.Mapping(groups=('site',))" in python
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[1:]) == 0
    its = json.loads(capsys.readouterr().out)["models"][0]
    exec(compile(python, "page", "exec"), {})
    mine = json.loads(capsys.readouterr().out)["models"][0]
    assert list(mine["on_request"]["groups"]) == ["site"]
    assert mine == its


def test_groups_that_it_holds_are_offered():
    app = at("views/groups.py")
    box = app.selectbox(key="group")
    assert list(box.options) == ["site", "age"]
    app = sound(box.set_value("site").run())
    rows = cc.by_group(binary(), "site")
    for g in rows.groups:
        right = round(g.accuracy * g.n)
        if g in rows.clearest[:3]:
            assert f"In {g.name}, {right:,} of {g.n:,} rows were right" in words(app)
    assert reduced_words.NO_PERIODS in words(app)
    assert reduced_words.NO_GROUPS in words(at("views/groups.py", "float16, exact"))


def test_pages_that_need_rows_say_so():
    app = at("views/fix.py")
    assert reduced_words.FIX in words(app)
    assert links(app)[-1].startswith("Next: ")
    app = at("views/report.py")
    assert reduced_words.NO_TEST in words(app)
    assert "tested" not in [t.key for t in app.toggle]


def test_the_report_names_what_it_rests_on():
    app = at("views/report.py")
    page = app.get("iframe")[0].proto.srcdoc
    assert "Known from a reduced profile, without the rows: these numbers are those of the rows" in page
    assert "Not tested whether it helps: that needs the rows" in page
    assert "<script>alert" not in at("views/report.py", "names with markup").get("iframe")[0].proto.srcdoc


def test_a_threshold_needs_no_rows():
    app = at("views/act.py")
    app = sound(app.number_input(key="t").set_value(0.75).run())
    (model,) = read_bytes(profile()[1], "m")
    panel = cc.analyze(model, cc.Settings(threshold=0.75)).measures["threshold"]
    assert panel.acted.count == int((binary().confidence > 0.75).sum())
    app = sound(app.number_input(key="t").set_value(0.9).run())


def test_compared_with_a_file_of_rows_and_with_another_profile():
    rival = profile(bytes_of(profiles_of(binary("rival", seed=5, slope=1.0))), "rival.profile.parquet")
    app = sound(start("views/compare.py", [profile(), rival, ("m0.csv", csv_file(), CSV)]))
    text = words(app)
    assert "rival differs from credit in the log loss by −" in text
    assert "cannot be paired" in text
    assert "Log loss and Brier score decide, with their intervals" not in text
    app = sound(start("views/compare.py", [profile(), profile("five classes", "five.profile.parquet")]))
    assert "animals and credit have no score in common" in words(app)


def test_names_are_text():
    app = at("views/groups.py", "names with markup")
    app = sound(app.selectbox(key="group").set_value("<i>site</i>").run())
    assert all("<script>" not in str(m.value) for kind in ("markdown", "caption", "title") for m in app.get(kind))


def test_damaged_ones_leave_the_others_alone():
    data = file_of("binary with groups")
    bad, worse = (profile(data[: int(share * len(data))], f"bad{share}.profile.parquet") for share in (0.9, 0.4))
    app = start(files=[bad, worse, profile()])
    assert not app.exception
    assert ["bad0" in e.value for e in app.sidebar.error] == [True, True]
    assert "Choose columns" not in " ".join(b.label for b in app.sidebar.button)
    assert app.title[0].value.startswith("credit")
