"""Where files come from: uploads, a folder on the server, and what happens when they change, go, or the session ends."""

import json
import os
import re
from pathlib import Path

import pytest
from added import add, before_the_first_page
from streamlit.testing.v1 import AppTest

import calibcore as cc
from calibcore.io import read_bytes
from calibcore.report.training import training_caveat
from dashboard import folder
from dashboard.launch import OPENED

ROOT = Path(__file__).parents[2]
APP = str(ROOT / "dashboard" / "app.py")
CSV = "text/csv"


def table(header="y_true,y_prob", n=200, shift=0.0, yes="1", no="0"):
    rows = [f"{yes if (i // 20) % 10 < 10 * (i % 20 + 0.5) / 20 else no},{min((i % 20 + 0.5) / 20 + shift, 1):.4f}" for i in range(n)]
    return "\n".join([header, *rows]).encode()


def start(query=(), files=()):
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in dict(query).items():
        app.query_params[key] = value
    if files:
        add(app, [(name, data, CSV) for name, data in files])
    app.run()
    assert not app.exception
    return app


def upload(app, *files):
    app.file_uploader[0].set_value([(name, data, CSV) for name, data in files]).run()
    assert not app.exception
    return app


def pick(app, *paths):
    app.multiselect(key="opened").set_value([str(p) for p in paths]).run()
    assert not app.exception
    return app


def picked(*paths):
    """The app, in which these were picked at first sight."""
    app = AppTest.from_file(APP, default_timeout=60)
    before_the_first_page(app)
    return pick(app, *paths)


def again(app):
    app.run()
    assert not app.exception
    return app


def words(app):
    kinds = ("title", "markdown", "caption", "error", "warning")
    return re.sub(r"\\(.)", r"\1", "\n".join(str(e.value) for kind in kinds for e in app.get(kind)))


def models(app):
    return app.selectbox(key="model").options


def ece(app):
    return next(m.value for m in app.metric if m.label == "ECE")


def ece_of(data, mapping=None):
    return f"{cc.analyze(read_bytes(data, 'x.csv', mapping)[0]).ece:.4f}"


def address(app):
    value = app.query_params.get("files", [""])
    return value if isinstance(value, str) else ",".join(value)


@pytest.fixture
def home(tmp_path, monkeypatch):
    place = tmp_path / "runs"
    place.mkdir()
    (place / "a.csv").write_bytes(table())
    (place / "b.csv").write_bytes(table(shift=0.1))
    monkeypatch.setenv(OPENED, json.dumps([str(place)]))
    return place


# --- the list ---


def test_a_folder_lists_its_own_prediction_files_only(home, tmp_path):
    (tmp_path / "outside.csv").write_bytes(table())
    (home / "below").mkdir()
    (home / "below" / "deep.csv").write_bytes(table())
    for name in (".hidden.csv", "notes.md", "model.pkl", "~$open.xlsx"):
        (home / name).write_bytes(b"x")
    (home / "out.csv").symlink_to(tmp_path / "outside.csv")
    (home / "dead.csv").symlink_to(home / "nothing.csv")
    (home / "within.csv").symlink_to(home / "a.csv")
    os.mkfifo(home / "pipe.csv")
    assert [p.name for p in folder.listing(home).paths] == ["a.csv", "b.csv", "within.csv"]


def test_a_folder_reached_by_a_link_is_that_folder(home, tmp_path):
    (tmp_path / "link").symlink_to(home)
    assert [p.name for p in folder.listing(tmp_path / "link").paths] == ["a.csv", "b.csv"]


def test_two_hundred_are_listed_and_the_rest_counted(home):
    for i in range(205):
        (home / f"m{i:03}.csv").touch()
    found = folder.listing(home)
    assert (len(found.paths), found.more) == (200, 7)
    assert "7 more files are not listed" in words(start())


def test_a_folder_that_went_is_said(home):
    import shutil

    app = picked(home / "a.csv")
    shutil.rmtree(home)
    again(app)
    assert "a.csv is gone" in words(app)


def test_an_empty_folder_says_so(home):
    (home / "a.csv").unlink()
    (home / "b.csv").unlink()
    assert "runs holds no prediction files yet" in words(start())


# --- picks ---


def test_samples_until_a_file_is_picked(home):
    app = start()
    assert "Sample data" in words(app)
    pick(app, home / "b.csv")
    assert models(app) == ["b"]
    assert ece(app) == ece_of(table(shift=0.1))
    pick(app, home / "b.csv", home / "a.csv")
    assert models(app) == ["b", "a"]
    pick(app)
    assert "Sample data" in words(app)


def test_picked_and_uploaded_files_stand_side_by_side(home):
    app = upload(picked(home / "a.csv"), ("up.csv", table(shift=0.05)))
    assert models(app) == ["a", "up"]


def test_a_reload_keeps_the_picks_and_the_address_holds_no_name(home):
    app = picked(home / "b.csv")
    kept = address(app)
    assert kept
    assert "b" not in re.sub(r"[0-9a-f]", "", kept)
    assert "csv" not in kept
    (home / "0-new.csv").write_bytes(table(shift=0.2))  # which a place in the list would now mean
    reloaded = start({"files": kept})
    assert models(reloaded) == ["b"]
    assert ece(reloaded) == ece_of(table(shift=0.1))


def test_words_of_another_server_open_nothing_and_say_so(home):
    app = start({"files": "0123456789"})
    assert "Some files of this address are not known any more" in words(app)
    pick(app, home / "a.csv")
    assert "not known any more" not in words(app)


def test_no_address_opens_a_file_outside_the_folder(home, tmp_path):
    (tmp_path / "secret.csv").write_bytes(table())
    app = start({"files": str(tmp_path / "secret.csv")})
    assert "secret" not in models(app)


def test_named_files_are_open_from_the_start_and_can_be_closed(home, monkeypatch):
    monkeypatch.setenv(OPENED, json.dumps([str(home / "a.csv"), str(home)]))
    app = start()
    assert models(app) == ["a"]
    assert address(app) == ""
    pick(app)
    assert "Sample data" in words(app)
    assert "Sample data" in words(start({"files": address(app)}))


# --- changes ---


def test_a_new_file_is_listed_and_noticed(home):
    before = folder.signature([home / "a.csv"])
    assert folder.signature([home / "a.csv"]) == before
    (home / "c.csv").write_bytes(table())
    assert folder.signature([home / "a.csv"]) != before
    assert any("c.csv" in o for o in start().multiselect(key="opened").options)


def test_a_changed_file_is_read_again_even_where_time_and_size_are_the_same(home):
    path = home / "a.csv"
    app = picked(path)
    assert ece(app) == ece_of(table())
    about, before = path.stat(), folder.signature([path])
    other = table(yes="0", no="1")
    assert len(other) == about.st_size
    path.write_bytes(other)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert folder.signature([path]) != before
    assert ece(again(app)) == ece_of(other)


def test_a_removed_file_is_said_and_comes_back(home):
    app = picked(home / "a.csv", home / "b.csv")
    (home / "a.csv").rename(home / "kept.bak")
    again(app)
    assert "a.csv is gone. Put it back, or take it off the list." in words(app)
    assert models(app) == ["b"]
    (home / "kept.bak").rename(home / "a.csv")
    assert models(again(app)) == ["a", "b"]


def answered(home):
    (home / "a.csv").write_bytes(table("diagnosis,p", yes="ill", no="well"))
    app = picked(home / "a.csv")
    app.radio(key="question positive").set_value("ill")
    next(b for b in app.button if b.label == "Read the file").click().run()
    assert models(app) == ["a"]
    return app


def test_answers_hold_for_a_file_with_the_same_columns(home):
    app = answered(home)
    other = table("diagnosis,p", yes="ill", no="well", shift=0.1)
    (home / "a.csv").write_bytes(other)
    assert ece(again(app)) == ece_of(other, cc.Mapping(positive="ill"))


def test_answers_are_dropped_for_a_file_with_other_columns(home):
    app = answered(home)
    other = table("result,p,q", yes="ill", no="well").replace(b"\nill", b"\nill").replace(b".", b".0,0.")
    (home / "a.csv").write_bytes(other)
    again(app)
    assert app.session_state["calibcore"].answers == {}
    assert "those answers were dropped" in words(app)


def test_joined_files_are_joined_again_when_either_changes(home):
    ids = [f"c{i}" for i in range(100)]

    def labels(k):
        return "\n".join(["id,y_true", *(f"{name},{int((i * k) % 7 < 3)}" for i, name in enumerate(ids))])

    (home / "a.csv").write_text("\n".join(["id,y_prob", *(f"{name},0.{i % 9 + 1}" for i, name in enumerate(ids))]))
    (home / "b.csv").write_text(labels(1))
    app = picked(home / "a.csv", home / "b.csv")
    (first,) = models(app)
    before = ece(app)
    (home / "b.csv").write_text(labels(3))
    again(app)
    assert models(app) == [first]
    parts = [(n, (home / n).read_bytes()) for n in ("a.csv", "b.csv")]
    assert ece(app) == f"{cc.analyze(read_bytes(parts, 'a')[0]).ece:.4f}" != before


# --- uploads and sessions ---


def test_a_file_replaced_by_another_of_the_same_name_shows_the_new_numbers():
    app = start(files=[("m.csv", table())])
    assert ece(app) == ece_of(table())
    upload(app, ("m.csv", table(shift=0.1)))
    assert models(app) == ["m"]
    assert ece(app) == ece_of(table(shift=0.1))
    upload(app, ("m.csv", table()))
    assert ece(app) == ece_of(table())


def test_two_files_of_one_name_keep_their_own_numbers():
    app = start(files=[("m.csv", table()), ("m.csv", table(shift=0.1))])
    assert models(app) == ["m", "m (2)"]
    assert ece(app) == ece_of(table())
    app.selectbox(key="model").set_value("m (2)").run()
    assert ece(app) == ece_of(table(shift=0.1))


def test_an_ended_session_is_said_until_the_files_are_back():
    app = start(files=[("m.csv", table())])
    assert address(app) == "uploaded"
    app = start({"files": "uploaded", "bins": "7"})
    assert "The session ended and the uploaded files are gone. Add them again; your settings are still in the address." in words(app)
    assert "Sample data" in words(app)
    assert app.slider(key="bins").value == 7
    upload(app, ("m.csv", table()))
    assert "the uploaded files are gone" not in words(app)
    upload(app)
    assert address(app) == ""
    assert "the uploaded files are gone" not in words(app)


def test_a_file_over_the_limit_is_refused_in_words(monkeypatch):
    from dashboard import session

    monkeypatch.setattr(session, "megabytes", lambda: 1)
    app = start(files=[("big.csv", table() + b"\n" * (2**20)), ("m.csv", table())])
    assert "big.csv is 2 MB; the limit is 1 MB." in words(app)
    assert models(app) == ["m"]


def test_more_than_a_thousand_classes_are_refused_in_words(home):
    k = 1001
    names = [f"c{i:04}" for i in range(k)]
    rows = [",".join([names[i], *("0.5" if j == i else "0.0005" for j in range(k))]) for i in range(3)]
    (home / "wide.csv").write_text("\n".join([",".join(["label", *(f"p_{n}" for n in names)]), *rows]))
    app = picked(home / "wide.csv", home / "a.csv")
    assert "wide.csv has 1,001 classes; the page shows at most 1,000." in words(app)
    assert models(app) == ["a"]


def test_more_than_eight_models_are_counted():
    rows = "\n".join(f"m{k},{i % 2},0.{i % 9 + 1}" for k in range(9) for i in range(40))
    app = start(files=[("m.csv", f"model,y_true,y_prob\n{rows}".encode())])
    assert "9 models are loaded; at most 8 are compared at once." in words(app)


# --- the one question ---


def question(app):
    return [g for g in app.get("button_group") if "train or tune" in g.label]


def test_the_question_is_asked_once_a_file_and_never_of_samples():
    assert not question(start())
    app = start(files=[("m.csv", table()), ("n.csv", table(shift=0.1)), ("m.csv", table())])
    assert len(question(app)) == 3
    assert [q.value for q in question(app)] == ["unknown"] * 3


def test_the_answer_holds_for_the_file_and_goes_with_it():
    app = start(files=[("m.csv", table()), ("n.csv", table(shift=0.1))])
    here = app.session_state["calibcore"]
    question(app)[1].set_value("no").run()
    assert [here.training.get(m.file.content, "unknown") for m in here.shown] == ["unknown", "no"]
    app.slider(key="bins").set_value(9).run()
    app.switch_page("views/compare.py").run()
    assert [q.value for q in question(app)] == ["unknown", "no"]
    upload(app, ("n.csv", table(shift=0.2)))  # other rows
    assert [q.value for q in question(app)] == ["unknown"]


def test_the_caveat_is_shown_unless_the_rows_were_kept_apart():
    app = start(files=[("m.csv", table())])

    def shown():
        return " ".join(e.proto.body for e in app.get("html"))

    assert training_caveat("unknown") in shown()
    question(app)[0].set_value("yes").run()
    assert training_caveat("yes") in shown()
    question(app)[0].set_value("no").run()
    assert "train" not in shown()


# --- suggested bins ---


def test_suggested_bins_are_one_click_away():
    app = start(files=[("m.csv", table(n=1000))])
    (link,) = (b for b in app.button if b.label == "Suggested: 10")
    link.click().run()
    assert app.slider(key="bins").value == 10
    assert not [b for b in app.button if b.label.startswith("Suggested")]
    assert not app.exception
