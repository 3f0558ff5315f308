"""The page Learn: every example, every section, and nothing that depends on a file."""

import re

from test_app import CSV, alts, charts, csv_file, start, words

from calibcore.report import learn

PAGE = "views/learn.py"


def html(app):
    return " ".join(str(e.proto.body) for e in app.get("html"))


def test_all_sections_are_there():
    app = start(PAGE)
    assert not app.exception
    assert [t.value for t in app.title] == ["How to read these pages"]
    for sentence in (*learn.MEANING, learn.PRIVACY, learn.SHARING):
        assert sentence in words(app)
    for score in learn.SCORES:
        assert score.limit in html(app)
    assert [len(t.value) for t in app.table] == [len(learn.LIMITS.rows), len(learn.GLOSSARY.rows)]


def test_every_example_is_drawn_and_asks():
    app = start(PAGE, query={"example": learn.EXAMPLES[-1].name})
    assert app.segmented_control(key="example").value == learn.EXAMPLES[-1].name
    for example in learn.EXAMPLES:
        app.segmented_control(key="example").set_value(example.name).run()
        assert not app.exception
        assert not app.error
        assert f"Reliability diagram of {example.sample}" in alts(app)
        assert example.shape in words(app)
        assert len(re.findall("<summary>", html(app))) == 3


def test_uploads_and_settings_do_not_change_the_lesson():
    plain = start(PAGE)
    other = start(PAGE, [("m.csv", csv_file(shift=0.1), CSV)], {"bins": "5", "view": "Positive class"})
    assert [c.proto.spec for c in charts(plain)] == [c.proto.spec for c in charts(other)]


def test_a_file_that_cannot_be_read_leaves_the_lesson():
    app = start(PAGE, [("bad.csv", b"a,b\n1,2\n", CSV)])
    assert not app.exception
    assert len(charts(app)) == 2


def test_the_privacy_line_is_that_of_the_sidebar():
    app = start(PAGE)
    assert words(app).count(learn.PRIVACY) == 2
