"""Every page that exists, for every kind of input and both themes: it stands, has one heading, says what its charts show, and leads on."""

import functools
from pathlib import Path

import pytest
from test_app import APP, CSV, ROOT, csv_file, start

# Read from the folder, so that a new page is tested from its first day.
PAGES = sorted(f"views/{path.name}" for path in (ROOT / "dashboard" / "views").glob("*.py") if path.stem != "__init__")


def lines(header, rows):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]).encode()


def visits(rows=360):
    """Confidence in the predicted class, with a site to group by and a day."""
    cells = [("cat" if i % 5 else "owl", "cat", 0.8, "abc"[i % 3], f"2024-{1 + i // 60:02d}-{1 + i % 28:02d}") for i in range(rows)]
    return lines("true,pred,confidence,site,day", cells)


def three_classes(rows=360):
    """A third of the rows each; the first class is claimed more often than it happens."""
    return lines("label,prob_a,prob_b,prob_c", [("abc"[i % 3], *((0.6, 0.3, 0.1), (0.2, 0.5, 0.3))[i % 2]) for i in range(rows)])


BINARY = [(f"m{k}.csv", csv_file(shift=0.02 * k), CSV) for k in range(6)]
FILES = {
    "samples": [],
    "one": BINARY[:1],
    "eight": [*BINARY, ("visits.csv", visits(), CSV), ("three.csv", three_classes(), CSV)],
    "visits": [("visits.csv", visits(), CSV)],
    "three classes": [("three.csv", three_classes(), CSV)],
    "broken": [("broken.csv", b"label,probability\n1,0.8\n0,1.2\n1,0.4\n", CSV)],
    "one and a broken one": [*BINARY[:1], ("broken.csv", b"", CSV)],
}
CHARTED = ("views/overview.py", "views/compare.py", "views/bins.py")  # whatever the file


@functools.cache
def session(files, theme):
    """One reader with these files; the pages are visited one after the other, as readers do, so that the files are read once."""
    return start(files=FILES[files], theme=theme)


def at(page, files, theme):
    app = session(files, theme)
    return app.switch_page(page).run()


def test_the_pages_are_those_of_the_menu():
    menu = Path(APP).read_text(encoding="utf-8")
    assert len(PAGES) >= 8
    assert [p for p in PAGES if f'"{p}"' not in menu] == []


@pytest.mark.parametrize("files", FILES)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_stands_for_every_input(page, files):
    app = at(page, files, "dark" if files in ("samples", "eight") else "light")
    assert not app.exception
    # A file that cannot be read has its sentence in the sidebar, and nothing else went wrong.
    assert [e.value for e in app.main.error] == []
    assert len(app.sidebar.error) == ("broken" in files)
    assert len(app.title) == 1
    assert all(c.proto.alt.endswith(".") for c in app.get("plotly_chart"))
    if not readable(files) and page != "views/learn.py":  # nothing to go on with
        assert "No file could be read" in " ".join(str(m.value) for m in app.markdown)
        assert not app.get("plotly_chart")
    elif page in CHARTED:
        assert app.get("plotly_chart")


def readable(files):
    return files != "broken"


def test_the_next_links_lead_through_all_pages_and_back():
    page, seen = "views/overview.py", []
    while page not in seen:
        seen.append(page)
        last = at(page, "one", "light").main.get("page_link")[-1].proto
        assert last.label.startswith("Next: ")
        page = f"views/{last.page or 'overview'}.py"
    assert page == seen[0]
    assert sorted(seen) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_charts_follow_the_theme(page):
    light, dark = ([c.proto.spec for c in at(page, "three classes", t).get("plotly_chart")] for t in ("light", "dark"))
    assert len(light) == len(dark)
    assert all("#4B5563" in spec for spec in light)  # the grey of texts on white
    assert not any("#4B5563" in spec for spec in dark)
