"""Sessions side by side, and files that go or change under what is looked at: each reader's own numbers on every page, never old ones."""

import functools
import json
import re
from pathlib import Path

import pytest
from added import add
from streamlit.testing.v1 import AppTest

from calibcore.io import read_bytes
from dashboard.launch import OPENED

ROOT = Path(__file__).parents[2]
APP = str(ROOT / "dashboard" / "app.py")
PAGES = ("compare", "bins", "groups", "fix", "act", "report", "learn", "overview")
CSV = "text/csv"


def table(k=0, n=400, yes="1", no="0", label="y_true"):
    """Rows in exact steps, without chance, whose ECE is k/20 with any bins.

    Of 20 rows at p = (j + 1/2)/20 there are j + 1 - k events where p is above one half, else j + 1 + k. So of those with the confidence
    c, from both sides, the share 20c - k of 20 is right.
    """
    steps = [(i % 20 + 0.5) / 20 for i in range(n)]
    happened = [(i // 20) % 20 < 20 * p - k * (1 if p > 0.5 else -1) for i, p in enumerate(steps)]
    return "\n".join([f"{label},y_prob", *(f"{yes if y else no},{p:.3f}" for y, p in zip(happened, steps, strict=True))]).encode()


def start(*files):
    app = AppTest.from_file(APP, default_timeout=60)
    if files:
        add(app, [(name, data, CSV) for name, data in files])
    return run(app)


def run(app):
    app.run()
    assert not app.exception
    return app


def upload(app, *files):
    app.file_uploader[0].set_value([(name, data, CSV) for name, data in files])
    return run(app)


def go(app, page):
    app.switch_page(f"views/{page}.py")
    return run(app)


def words(app):
    kinds = ("title", "header", "markdown", "caption", "error", "warning")
    return re.sub(r"\\(.)", r"\1", "\n".join(str(e.value) for kind in kinds for e in app.get(kind)))


def ece(app):
    return next(m.value for m in app.metric if m.label == "ECE")


def ece_of(k):
    return f"{k / 20:.4f}"


def compared(app):
    """Model → ECE by equal width, as the table of Compare shows it."""
    shown = next(t.value.rename(columns=plain) for t in app.table if "Log loss" in t.value.columns)
    return {plain(m): plain(e) for m, e in zip(shown["Model"], shown["ECE (equal width)"], strict=True)}


def look_at(app, low, high):
    """Inspect the bin with these edges, as a click does."""
    app.session_state["calibcore"].kept_range = (low, high)
    return run(app)


def plain(text):
    return re.sub(r"\\(.)", r"\1", text)


# --- sessions ---


def test_two_sessions_take_turns_without_crosstalk():
    """The same names, other rows, other settings; each run of one lies between two of the other."""
    one, two = start(("m.csv", table(2)), ("n.csv", table(1))), start(("m.csv", table(4)))
    one.slider(key="bins").set_value(10)
    assert ece(run(one)) == ece_of(2)
    assert ece(run(two)) == ece_of(4)
    assert two.slider(key="bins").value == 15
    go(one, "compare")
    go(two, "compare")
    assert ("10 equal-width bins" in words(one), "15 equal-width bins" in words(two)) == (True, True)
    assert compared(one) == {"m": ece_of(2), "n": ece_of(1)}
    assert compared(two) == {"m": ece_of(4)}
    upload(one)  # one takes all away
    assert "Sample data" in words(one)
    assert compared(run(two)) == {"m": ece_of(4)}
    assert "m.csv" in words(two)
    assert "m.csv" not in words(one)


def test_answers_about_a_file_on_the_server_are_each_sessions_own(tmp_path, monkeypatch):
    path = tmp_path / "scan.csv"
    path.write_bytes(table(1, yes="ill", no="well", label="diagnosis"))
    monkeypatch.setenv(OPENED, json.dumps([str(path)]))
    found = {}
    for answer in ("ill", "well"):
        app = start()
        app.radio(key="question positive").set_value(answer)
        next(b for b in run(app).button if b.label == "Read the file").click()
        found[answer] = run(app)
    for answer in ("ill", "well", "ill"):
        assert f"positive class = {answer}" in words(run(found[answer]))
        # The other way round 1 - (c - 1/20) are right where c are said: 2c - 1 - 1/20 too few, never below 0; c is 3/4 on average.
        assert ece(found[answer]) == {"ill": ece_of(1), "well": ece_of(9)}[answer]
    assert "positive class" not in words(start())


# --- files that go or change ---


CHOICES = {  # what a page may still have of a file that went
    "compare": lambda app: app.selectbox(key="baseline").set_value("gone").run(),
    "bins": lambda app: look_at(app, 0.9, 1),
    "report": lambda app: app.multiselect(key="report with").set_value(["kept"]).run(),
}


@pytest.mark.parametrize("page", PAGES)
def test_a_file_that_is_removed_takes_its_numbers_along_on_every_page(page):
    """The removed one is the model that is looked at, and what its page may keep of it; before the Overview, what any page may keep."""
    kept, gone = ("kept.csv", table(1)), ("gone.csv", table(4))
    app = start(kept, gone)
    app.selectbox(key="model").set_value("gone").run()
    for where in CHOICES if page == "overview" else CHOICES.keys() & {page}:
        CHOICES[where](go(app, where))
        if where == "bins":
            assert "Bins and rows of gone" in words(app)
    if page not in CHOICES:
        go(app, page)
    upload(app, kept)
    assert "gone" not in words(app)
    assert not app.error
    if page == "compare":
        assert compared(app) == {"kept": ece_of(1)}
    assert ece(go(app, "overview")) == ece_of(1)


OTHER = ("n.csv", table(2))


@functools.cache
def session_of(name):
    """One reader who visits the pages one after the other."""
    return start(("m.csv", table(4)), OTHER)


@pytest.mark.parametrize("page", PAGES)
def test_a_file_replaced_by_another_of_its_name_shows_the_new_numbers_on_every_page(page):
    app = session_of("one that had another file")
    upload(go(app, page), ("m.csv", table(1)), OTHER)
    upload(app, ("m.csv", table(4)), OTHER)
    fresh = go(session_of("one that never had it"), page)
    assert words(app) == words(fresh)
    assert [t.value.to_dict() for t in app.table] == [t.value.to_dict() for t in fresh.table]
    assert [(m.label, m.value, m.delta) for m in app.metric] == [(m.label, m.value, m.delta) for m in fresh.metric]
    assert [c.proto.spec for c in app.get("plotly_chart")] == [c.proto.spec for c in fresh.get("plotly_chart")]
    assert [f.proto.srcdoc for f in app.get("iframe")] == [f.proto.srcdoc for f in fresh.get("iframe")]


def test_a_page_of_rows_that_the_next_file_lacks():
    """Page 3 of a bin's rows is looked at; the file that takes the place has one page in that bin."""
    app = start(("m.csv", table(1, n=4000)))
    app.slider(key="bins").set_value(10)
    go(run(app), "bins")
    look_at(app, 0.9, 1)
    app.session_state["page of (0.9, 1.0)"] = 3
    run(app)
    upload(app, ("m.csv", table(1)))
    assert not app.error
    assert not app.exception


def test_the_same_file_twice_and_one_of_them_removed():
    app = start(("m.csv", table(3)), ("m.csv", table(3)))
    app.selectbox(key="model").set_value("m (2)")
    assert ece(run(app)) == ece_of(3)
    upload(app, ("m.csv", table(3)))
    assert app.selectbox(key="model").options == ["m"]
    assert ece(app) == ece_of(3)


# --- files that cannot be read ---


def test_a_failure_that_nobody_foresaw_stays_with_its_file(monkeypatch, caplog):
    """A fault in a reader is said under an id; the other file is shown, and neither name nor value is logged."""
    from dashboard import session

    def broken(data, name, *rest):
        if name == "secret.csv":
            raise RuntimeError("value 0.123 in secret.csv")
        return read_bytes(data, name, *rest)

    monkeypatch.setattr(session, "read_bytes", broken)
    app = start(("secret.csv", table(1)), ("m.csv", table(2)))
    (error,) = app.error
    (number,) = re.findall(r"secret.csv could not be read \(id (\w+)\)", plain(error.value))
    assert ece(app) == ece_of(2)
    assert number in caplog.text
    assert "RuntimeError" in caplog.text
    assert "0.123" not in caplog.text
    assert "secret" not in caplog.text


def test_with_broken_files_only_every_page_leads_on():
    app = start(("empty.csv", b""), ("words.txt", b"Read me first, in words.\nNothing else.\n"))
    for page in PAGES:
        go(app, page)
        assert len(app.error) == 2
        assert ["empty.csv" in plain(app.error[0].value), "words.txt" in plain(app.error[1].value)] == [True, True]
        if page != "learn":
            assert "No model to show yet" in words(app), page
            assert "learn" in [link.proto.page for link in app.get("page_link")]


# --- names of controls ---


def test_controls_beside_several_files_say_whose_they_are():
    asks = table(2, yes="ill", no="well", label="diagnosis")
    odd = b"y_true,y_prob\n" + b"1,80\n0,\n" * 20 + b"0,30\n1,60\n" * 40  # of which some rows have no probability
    hostile = "![x](http://192.0.2.1/p.png) `a_b`.csv"
    app = start(("m.csv", table(1)), ("m.csv", table(3)), ("asks.csv", asks), ("odd.csv", odd), (hostile, table(4)))
    labels = [plain(b.label).replace("\u2060", "") for b in app.button if str(b.key).startswith("change")]
    assert labels == ["Change m.csv", "Change m.csv (2)", "Answer for asks.csv", "Choose columns of odd.csv", f"Change {hostile}"]
    (raw,) = (b.label for b in app.button if "192" in b.label)
    assert "![" not in raw
    questions = [g.label for g in app.get("button_group") if "train or tune" in g.label]
    assert len(set(questions)) == len(questions) == 3
    assert questions[0] == "m.csv: were these rows used to train or tune the model?"
    assert not set("![]()`") & set(questions[2])


def test_controls_of_a_single_file_need_no_name():
    app = start(("m.csv", table(1)))
    assert "Change" in [b.label for b in app.button]
    assert "Were these rows used to train or tune the model?" in [g.label for g in app.get("button_group")]
