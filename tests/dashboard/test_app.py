"""The pages, run without a browser: every page for every kind of input, and numbers equal to those of `calibcore.analyze`."""

import json
import re
from pathlib import Path

import pytest
from added import add
from streamlit.testing.v1 import AppTest

import calibcore as cc
from calibcore.report.exports import bins_csv, results_json
from calibcore.report.tables import score_text
from dashboard.assets import config_file, sample_paths

ROOT = Path(__file__).parents[2]
APP = str(ROOT / "dashboard" / "app.py")
PAGES = ("views/overview.py", "views/compare.py", "views/bins.py")
CSV = "text/csv"


def csv_file(rows=400, shift=0.0, label="y_true", yes="1", no="0"):
    """A calibrated binary file, or one that claims ``shift`` more than it should; in exact steps, without chance."""
    lines = [f"id,{label},y_prob"]
    for i in range(rows):
        p = (i % 20 + 0.5) / 20
        happened = (i // 20) % 20 < round(20 * p)
        lines.append(f"{i},{yes if happened else no},{min(max(p + shift, 0), 1):.4f}")
    return "\n".join(lines).encode()


def start(page=PAGES[0], files=(), query=(), theme="light"):
    """The app with files added, on a page."""
    app = AppTest.from_file(APP, default_timeout=60)
    app.context = {"theme": theme}
    for key, value in dict(query).items():
        app.query_params[key] = value
    if files:
        add(app, files)
    if page != PAGES[0]:
        app.switch_page(page)
    return app.run()


def words(app):
    """Everything on the page as text, escapes taken away."""
    found = [e.value for kind in ("title", "header", "subheader", "markdown", "caption", "error", "warning") for e in app.get(kind)]
    found += [m.delta for m in app.metric]
    return re.sub(r"\\(.)", r"\1", "\n".join(map(str, found))).replace("\u00a0", " ")


def charts(app):
    return app.get("plotly_chart")


def alts(app):
    return " ".join(c.proto.alt for c in charts(app))


def read(data, name):
    from calibcore.io import read_bytes

    return read_bytes(data, name)[0]


def files_of(n):
    return [(f"m{k}.csv", csv_file(shift=0.02 * k), CSV) for k in range(n)]


def test_samples_are_shown_first_and_said_to_be_samples():
    app = start()
    assert "Sample data" in words(app)
    assert app.selectbox(key="model").options == [p.stem for p in sample_paths()]


def test_numbers_of_the_overview_equal_the_analysis():
    data = csv_file(shift=0.1)
    app = start(files=[("m.csv", data, CSV)])
    a = cc.analyze(read(data, "m.csv"))
    shown = {m.label: m.value for m in app.metric}
    assert shown["ECE"] == f"{a.ece:.4f}"
    assert shown["MCE"] == f"{a.bins.mce:.4f}"
    assert shown["Brier"] == f"{a.brier:.4f}"
    assert shown["Log loss"] == f"{a.log_loss:.4f}"
    assert shown["Gap"] == f"{100 * a.gap.value:+.1f} points".replace("-", "−")
    assert a.verdict.text in words(app)
    assert f"chance alone: {a.chance.median:.4f}, up to {a.chance.p95:.4f}" in words(app)


def test_the_diagram_shows_the_bins_of_the_analysis():
    data = csv_file(shift=0.1)
    app = start(files=[("m.csv", data, CSV)], query={"bins": "7"})
    a = cc.analyze(read(data, "m.csv"), cc.Settings(n_bins=7))
    spec = json.loads(charts(app)[0].proto.spec)
    (points,) = (t for t in spec["data"] if t.get("mode") == "markers" and t["name"] == "bin mean")
    assert points["x"] == pytest.approx(a.bins.confidence[a.bins.filled])
    assert points["y"] == pytest.approx(a.bins.accuracy[a.bins.filled])


@pytest.mark.parametrize(
    ("query", "settings"),
    [
        ({"bins": "7"}, cc.Settings(n_bins=7)),
        ({"strategy": "Equal mass", "bins": "5"}, cc.Settings(n_bins=5, strategy="equal_mass")),
        ({"view": "Positive class"}, cc.Settings(view="positive")),
        ({"closed": "Lower edge", "bins": "4"}, cc.Settings(n_bins=4, closed="left")),
        ({"seed": "3"}, cc.Settings(seed=3)),
        ({"level": "80"}, cc.Settings(level=0.8)),
        ({"strategy": "Custom"}, cc.Settings(edges=(0, 0.5, 0.7, 0.8, 0.9, 0.95, 1))),
        ({"bins": "500", "strategy": "nonsense"}, cc.Settings()),
    ],
    ids=str,
)
def test_settings_in_the_address_are_honoured(query, settings):
    data = csv_file(shift=0.1)
    app = start(files=[("m.csv", data, CSV)], query=query)
    a = cc.analyze(read(data, "m.csv"), settings)
    assert {m.label: m.value for m in app.metric}["ECE"] == score_text(a.ece)
    assert f"chance alone: {score_text(a.chance.median)}, up to {score_text(a.chance.p95)}" in words(app)
    assert not app.exception


def test_moving_the_slider_changes_the_numbers_and_not_the_verdict():
    data = csv_file(shift=0.1)
    app = start(files=[("m.csv", data, CSV)])
    before = words(app)
    app.slider(key="bins").set_value(9).run()
    a = cc.analyze(read(data, "m.csv"), cc.Settings(n_bins=9))
    assert {m.label: m.value for m in app.metric}["ECE"] == f"{a.ece:.4f}"
    assert a.verdict.text in before
    assert a.verdict.text in words(app)


def test_reset_brings_the_defaults_back():
    app = start(query={"bins": "7", "strategy": "Equal mass"})
    next(b for b in app.button if b.label == "Reset settings").click().run()
    assert app.slider(key="bins").value == 15
    assert not app.exception


BROKEN = [
    ("empty.csv", b"", "empty"),
    ("head.csv", b"y_true,y_prob\n", "no data rows"),
    ("letter.txt", b"Dear all,\nthis is a letter.\n", "not a table"),
    ("model.pkl", b"\x80\x04]\x94.", "never loaded"),
    ("over.csv", b"y_true,y_prob\n1,1.2\n0,0.3\n", "1.2"),
    ("nan.csv", b"y_true,y_prob\n1,nan\n0,0.3\n", "nan.csv"),
]
LABELS_ALONE = [("alone.csv", b"y_true\n1\n0\n", "alone.csv")]  # beside a file of predictions they would be joined


@pytest.mark.parametrize("broken", [BROKEN, LABELS_ALONE], ids=["broken", "labels alone"])
def test_broken_files_are_named_and_the_others_stay(broken):
    app = start(files=[*((name, data, CSV) for name, data, _ in broken), ("good.csv", csv_file(), CSV)])
    shown = [re.sub(r"\\(.)", r"\1", error.value) for error in app.error]
    assert len(shown) == len(broken)
    for name, _, sentence in broken:
        assert [sentence in line for line in shown if name in line] == [True], name
    assert app.selectbox(key="model").options == ["good"]
    assert not app.exception


def test_an_ambiguous_file_asks_and_is_read_as_answered():
    data = csv_file(label="diagnosis", yes="ill", no="well")
    app = start(files=[("scan.csv", data, CSV), ("good.csv", csv_file(), CSV)])
    assert app.selectbox(key="model").options == ["good"]
    assert "can be read in more than one way." in words(app)
    question = app.radio(key="question positive")
    assert set(question.options) == {"ill", "well"}
    question.set_value("ill")
    next(b for b in app.button if b.label == "Read the file").click().run()
    assert not app.exception
    assert app.selectbox(key="model").options == ["scan", "good"]
    assert "positive class = ill" in words(app)


def test_a_question_is_not_answered_by_pressing_the_button():
    app = start(files=[("scan.csv", csv_file(label="diagnosis", yes="ill", no="well"), CSV)])
    next(b for b in app.button if b.label == "Read the file").click().run()
    assert not app.exception
    assert "Choose an answer first." in [e.value for e in app.error]
    assert not charts(app)


def test_another_answer_gives_other_numbers():
    data = csv_file(label="diagnosis", yes="ill", no="well")
    verdicts = []
    for answer in ("ill", "well"):
        app = start(files=[("scan.csv", data, CSV)])
        app.radio(key="question positive").set_value(answer)
        next(b for b in app.button if b.label == "Read the file").click().run()
        verdicts.append(words(app))
        next(b for b in app.button if b.label == "Change").click().run()
        app.radio(key="role positive").set_value("well" if answer == "ill" else "ill")
        next(b for b in app.button if b.label == "Read the file").click().run()
        verdicts.append(words(app))
    assert verdicts[0] == verdicts[3]
    assert verdicts[1] == verdicts[2]
    assert verdicts[0] != verdicts[1]


def test_missing_values_are_asked_about():
    percents = b"y_true,y_prob\n" + b"1,80\n0,\n" * 20 + b"0,30\n1,60\n" * 40
    app = start(files=[("gaps.csv", percents, CSV), ("good.csv", csv_file(), CSV)])
    assert app.selectbox(key="model").options == ["good"]
    assert "20 of 120 rows have no value" in words(app)
    next(b for b in app.button if b.label == r"Choose columns of gaps\.csv").click().run()
    app.radio(key="question missing").set_value("drop").run()
    next(b for b in app.button if b.label == "Read the file").click().run()
    assert not app.exception
    assert app.selectbox(key="model").options == ["gaps", "good"]


def test_a_refused_file_can_be_read_differently():
    app = start(files=[("odd.csv", b"happened,said\n" + b"1,1\n0,0\n0,1\n" * 40, CSV)])
    assert "No column looks like a probability" in app.error[0].value
    next(b for b in app.button if b.label == "Choose columns").click().run()
    app.multiselect(key="role probabilities").set_value(["said"]).run()
    next(b for b in app.button if b.label == "Read the file").click().run()
    assert not app.exception
    assert not app.error
    assert app.selectbox(key="model").options == ["odd"]


def test_a_removed_file_takes_its_models_along():
    app = start(files=files_of(2))
    app.file_uploader[0].set_value(files_of(1)).run()
    assert app.selectbox(key="model").options == ["m0"]
    here = app.session_state["calibcore"]
    assert [f.name for f in here.files.values()] == ["m0.csv"]


def test_the_same_file_twice_gets_two_names():
    app = start(PAGES[1], [("m.csv", csv_file(), CSV)] * 2)
    assert app.multiselect(key="compared").options == ["m", "m (2)"]
    assert not app.exception
    assert not app.error


def test_a_file_is_read_once(monkeypatch):
    import dashboard.session

    calls = []
    actual = dashboard.session.read_bytes
    monkeypatch.setattr(dashboard.session, "read_bytes", lambda *a: calls.append(a[1]) or actual(*a))
    app = start(files=[("m.csv", csv_file(), CSV)])
    app.slider(key="bins").set_value(9).run()
    app.switch_page(PAGES[1]).run()
    assert calls.count("m.csv") == 1


def test_two_sessions_share_nothing():
    one, two = start(files=files_of(1)), start()
    assert one.selectbox(key="model").options == ["m0"]
    assert "m0" not in two.selectbox(key="model").options
    assert one.session_state["calibcore"] is not two.session_state["calibcore"]


def test_paths_given_at_the_start_replace_the_samples(monkeypatch, tmp_path):
    (tmp_path / "mine.csv").write_bytes(csv_file())
    monkeypatch.setenv("CALIBCORE_OPENED", json.dumps([str(tmp_path / "mine.csv"), str(tmp_path / "gone.csv")]))
    app = start()
    assert app.selectbox(key="model").options == ["mine"]
    assert "Sample data" not in words(app)
    assert "gone" in app.error[0].value


def test_models_side_by_side_equal_the_comparison():
    data = [csv_file(), csv_file(shift=0.1)]
    app = start(PAGES[1], [("a.csv", data[0], CSV), ("b.csv", data[1], CSV)])
    compared = cc.compare([read(data[0], "a.csv"), read(data[1], "b.csv")])
    table = app.table[0].value
    ece = next(c for c in table.columns if re.sub(r"\\", "", c) == "ECE (equal width)")
    mass = next(c for c in table.columns if re.sub(r"\\", "", c) == "ECE (equal mass)")
    assert [re.sub(r"\\", "", v) for v in table[ece]] == [f"{a.ece:.4f}" for a in compared.analyses]
    assert [re.sub(r"\\", "", v) for v in table[mass]] == [
        f"{cc.analyze(read(d, 'x.csv'), cc.Settings(strategy='equal_mass')).ece:.4f}" for d in data
    ]
    assert "a makes a smaller error than b" in words(app) or "These rows do not tell" in words(app)


def test_up_to_four_models_are_overlaid_and_more_are_small_multiples():
    def diagrams(app):
        return [c for c in charts(app) if " against " not in c.proto.alt]  # the others are forest plots of differences

    def layout(app):
        return [c for c in app.segmented_control if c.key == "layout"]

    app = start(PAGES[1], files_of(3), {"layout": "Small multiples"})
    assert len(diagrams(app)) == 3
    layout(app)[0].set_value("Automatic")
    app.file_uploader[0].set_value(files_of(4)).run()
    assert len(diagrams(app)) == 1
    app.file_uploader[0].set_value(files_of(5)).run()
    assert len(diagrams(app)) == 5
    assert not layout(app)  # asked only where there is a choice


def test_the_baseline_can_be_chosen():
    app = start(PAGES[1], files_of(3))
    app.selectbox(key="baseline").set_value("m2").run()
    assert not app.exception
    first = app.table[0].value.iloc[0, 0]
    assert first == "m2"


def test_models_that_conflict_are_still_shown_side_by_side():
    flipped = csv_file(yes="0", no="1")
    app = start(PAGES[1], [("a.csv", csv_file(), CSV), ("b.csv", flipped, CSV), ("c.csv", csv_file(shift=0.1), CSV)])
    assert len(app.table[0].value) == 3
    assert "different labels" in words(app)
    assert "c" in app.table[1].value.iloc[0, 0]


def test_a_view_that_a_model_lacks_is_said():
    top_label = b"true,pred,confidence\n" + b"a,a,0.9\nb,a,0.6\n" * 60
    app = start(files=[("t.csv", top_label, CSV), ("m.csv", csv_file(), CSV)], query={"view": "Positive class"})
    assert "t has no positive-class view; it is shown in the Confidence view." in words(app)
    app.switch_page(PAGES[1]).run()
    assert "Left out, since they lack the chosen view: t." in words(app)
    assert not app.exception


def test_edges_that_are_none_are_explained():
    app = start(query={"strategy": "Custom"})
    app.text_input(key="edges").set_value("0, 0.9, 0.8, 1").run()
    assert "Edges must rise from 0 to 1; 0.8 comes after 0.9." in words(app)
    app.text_input(key="edges").set_value("0, a").run()
    assert "Edges must be numbers from 0 to 1" in words(app)
    assert not app.exception


def test_a_chosen_bin_shows_its_rows_and_is_kept_as_a_range():
    data = csv_file(shift=0.1)
    app = start(PAGES[2], [("m.csv", data, CSV)], {"bins": "10"})
    app.selectbox(key="inspect").set_value((7 / 10, 8 / 10)).run()
    here = app.session_state["calibcore"]
    low, high = here.kept_range
    confidence = read(data, "m.csv").confidence
    inside = (confidence > low) & (confidence <= high)
    rows = app.dataframe[0].value
    assert len(rows) == min(100, inside.sum())
    assert list(rows["Correct"]) == sorted(rows["Correct"])  # "no" before "yes"
    app.slider(key="bins").set_value(20).run()  # 20 bins have no bin as wide
    assert "Bins changed; pick a bin again." in words(app)
    app.slider(key="bins").set_value(10).run()
    assert here.kept_range is None


def test_the_choice_of_a_bin_goes_from_page_to_page():
    app = start(files=[("m.csv", csv_file(shift=0.1), CSV)])
    app.selectbox(key="inspect").set_value((8 / 15, 9 / 15)).run()
    kept = app.session_state["calibcore"].kept_range
    app.switch_page(PAGES[2]).run()
    assert app.session_state["calibcore"].kept_range == kept
    assert len(app.dataframe) == 1


def test_names_from_files_are_never_markup():
    evil = "![x](https://evil.example/a.png) **b** :red[c] $d$ <img src=x>"
    rows = "\n".join(f'{i % 2},0.{i % 9 + 1},"{evil} {i % 2}"' for i in range(300))
    app = start(files=[("e.csv", f"y_true,y_prob,model\n{rows}\n".encode(), CSV)])
    for page in PAGES:
        app.switch_page(page).run()
        assert not app.exception
        for kind in ("title", "markdown", "caption", "error"):
            for element in app.get(kind):
                assert "](" not in element.value
                assert "<img" not in element.value.replace("\\<img", "")
                assert "**b**" not in element.value


def test_an_internal_error_shows_an_id_and_not_itself(monkeypatch, caplog):
    import calibcore.plot

    def broken(*args, **options):
        raise RuntimeError("secret of a file")

    monkeypatch.setattr(calibcore.plot, "gaps", broken)
    app = start(files=files_of(1))
    assert "could not be computed (id " in words(app)
    assert "The other results are not affected." in words(app)
    assert "secret" not in words(app)
    assert "secret" not in caplog.text
    assert len(charts(app)) == 2


def test_downloads_are_offered():
    app = start(PAGES[2], files_of(1))
    app.session_state["takeaway"] = True
    app.run()
    labels = [b.proto.label for b in app.get("download_button")]
    assert {"Bins (CSV)", "All results (JSON)", "SVG", "PNG", "PDF"} <= set(labels)


def test_downloads_hold_what_the_results_hold():
    a = cc.analyze(read(csv_file(), "m.csv"), cc.Settings(n_bins=5))
    assert json.loads(results_json([a]))["models"][0]["ece"] == a.ece
    lines = bins_csv([a]).splitlines()
    assert len(lines) == 1 + 5
    last = dict(zip(lines[0].split(","), lines[-1].split(","), strict=True))
    assert float(last["accuracy"]) == a.bins.accuracy[-1]
    assert float(last["chance_low"]) == a.bins.calibrated_range(0.95)[0][-1]


def test_settings_file_and_samples_are_found():
    assert config_file().is_file()
    assert len(sample_paths()) == 7


def test_a_long_reading_fills_a_bar_that_is_gone_afterwards(monkeypatch):
    import dashboard.session
    from calibcore import progress
    from calibcore.io import big_text

    monkeypatch.setattr(dashboard.session, "_BIG", 0)
    monkeypatch.setattr(big_text, "_BIG", 0)
    monkeypatch.setattr(progress, "_SOON", -1)
    monkeypatch.setattr(progress, "_OFTEN", 0)
    shown = []

    class Place:
        def progress(self, share, text):
            shown.append((share, text))

        def empty(self):
            shown.append("gone")

    monkeypatch.setattr(dashboard.session.st, "empty", Place)
    with dashboard.session._bar("a_b.csv") as heard:
        dashboard.session._file("a_b.csv", "key", csv_file, {}, heard)
        heard(0.5)
    assert shown[-2:] == [(0.5, r"Reading a\_b\.csv"), "gone"]
    assert all(0 <= share <= 1 for share, _ in shown[:-1])
