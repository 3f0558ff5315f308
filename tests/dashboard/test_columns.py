"""The Columns dialog without a browser: every role can be changed, every question answered, and its figures are the package's."""

import re
from pathlib import Path

import pytest
from added import add
from streamlit.testing.v1 import AppTest

import calibcore as cc
from calibcore.io import inspect_bytes, read_bytes
from calibcore.io.effects import effects_of
from dashboard.draft import Draft

APP = str(Path(__file__).parents[2] / "dashboard" / "app.py")
CSV = "text/csv"


def rows(header, *lines):
    return "\n".join([header, *lines]).encode()


def two_scores(n=200):
    """A label, a second one, and two probabilities; in exact steps, without chance."""
    lines = [
        f"u{i},{int(i % 10 >= 5)},{int(i % 4 == 0)},{(i % 20 + 0.5) / 20:.3f},{(i % 8 + 1) / 16},{'ab'[i % 2]},{1 + i % 3}"
        for i in range(n)
    ]
    return rows("id,y_true,second,y_prob,rival,site,weight", *lines)


def asks(label="diagnosis", yes="ill", no="well", n=200):
    lines = [f"{yes if i % 20 >= 12 else no},{(i % 20 + 0.5) / 20:.3f}" for i in range(n)]
    return rows(f"{label},y_prob", *lines)


def start(*files):
    app = AppTest.from_file(APP, default_timeout=60)
    if files:
        add(app, [(name, data, CSV) for name, data in files])
    app.switch_page("views/groups.py").run()  # which is the quickest; the dialog is the same on every page
    assert not app.exception
    return app


def upload(app, *files):
    app.file_uploader[0].set_value([(name, data, CSV) for name, data in files]).run()
    assert not app.exception
    return app


def press(app, label):
    next(b for b in app.button if b.label == label).click().run()
    assert not app.exception
    return app


def plain(text):
    return re.sub(r"\\(.)", r"\1", text)


def words(app):
    return plain("\n".join(str(e.value) for kind in ("markdown", "caption", "error", "warning") for e in app.get(kind)))


def control(app, name):
    """A control by its name, whose key has a number where the dialog itself changed its value."""
    (found,) = [
        w
        for kind in (app.radio, app.selectbox, app.multiselect, app.text_input)
        for w in kind
        if re.fullmatch(rf"{name}(?: \d+)?", w.key or "")
    ]
    return found


def is_open(app):
    return any(b.label == "Read the file" for b in app.button)


def figures(app):
    """The table of figures: heading → name → text."""
    table = next(t.value for t in app.table if "Rows used" in list(t.value.iloc[:, 0]))
    names = [plain(n) for n in table.iloc[:, 0]]
    return {plain(c): dict(zip(names, map(plain, table[c]), strict=True)) for c in table.columns[1:]}


def figures_of(data, name, **answers):
    return dict(effects_of(read_bytes(data, name, cc.Mapping(**answers)))[0].figures())


def models(app):
    return app.selectbox(key="model").options


def test_every_file_says_how_it_is_read_and_can_be_changed():
    data = two_scores()
    app = start(("a.csv", data), ("b.csv", asks(label="y_true", yes="1", no="0")))
    assert not is_open(app)
    assert inspect_bytes(data, "a.csv").sentence in words(app)
    assert [b.label for b in app.button if b.label.startswith("Change")] == [r"Change a\.csv", r"Change b\.csv"]


def test_the_samples_ask_nothing():
    app = start()
    assert not is_open(app)
    assert "Change" not in [b.label for b in app.button]


def test_the_dialog_shows_the_reading_and_its_figures():
    data = two_scores()
    app = press(start(("a.csv", data)), "Change")
    layout = inspect_bytes(data, "a.csv")
    assert app.selectbox(key="role label").value == layout.roles["label"]
    assert app.selectbox(key="role id").value == "id"
    assert app.multiselect(key="role groups").value == layout.roles["groups"]
    assert app.selectbox(key="role weight").value == ()
    assert app.selectbox(key="role scale").value == "fraction"
    assert len(app.table[0].value) == 5
    assert plain(app.table[0].value.columns[0]) == "id (id)"
    assert "could be weights" in words(app)


CHANGES = {
    "label": ("selectbox", "second", {"label": "second"}),
    "probabilities": ("multiselect", ["rival"], {"probabilities": "rival"}),
    "weight": ("selectbox", "weight", {"weight": "weight"}),
    "groups": ("multiselect", [], {"groups": ()}),
    "id": ("selectbox", (), {"id": ()}),
    "cluster": ("selectbox", "site", {"cluster": "site"}),
    "model": ("selectbox", "site", {"model": "site"}),
    "time": ("selectbox", "weight", {"time": "weight"}),
    "positive": ("radio", "0", {"positive": "0"}),
    "missing": ("checkbox", True, {"missing": "drop"}),
}


def told_apart():
    """A file with one probability, so that one role at a time can be changed."""
    return two_scores().replace(b"rival", b"length")


@pytest.mark.parametrize("role", CHANGES)
def test_each_role_changes_the_figures_and_then_the_page(role):
    data = two_scores() if role == "probabilities" else told_apart()
    kind, value, answers = CHANGES[role]
    app = press(start(("a.csv", data)), "Change")
    getattr(app, kind)(key=f"role {role}").set_value(value).run()
    assert not app.exception
    wanted = [dict(e.figures()) for e in effects_of(read_bytes(data, "a.csv", cc.Mapping(**answers)))]
    shown = figures(app)
    assert [v for k, v in shown.items() if k.startswith("With this choice")] == wanted
    assert any(k.startswith("Now") for k in shown)
    press(app, "Read the file")
    assert not is_open(app)
    here = app.session_state["calibcore"]
    assert [m.predictions.n for m in here.shown] == [p.n for p in read_bytes(data, "a.csv", cc.Mapping(**answers))]
    assert list(here.answers.values()) == [answers]
    assert "Change" in [b.label for b in app.button]


def test_a_choice_that_cannot_be_read_is_said_in_one_sentence_and_not_applied():
    app = press(start(("a.csv", told_apart())), "Change")
    app.selectbox(key="role label").set_value("id").run()
    assert "'id'" in app.error[0].value.replace("\\", "")
    assert next(b for b in app.button if b.label == "Read the file").disabled
    press(app, "Start over")
    assert not app.error
    assert control(app, "role label").value == "y_true"
    press(app, "Read the file")
    assert app.session_state["calibcore"].answers == {}
    assert models(app) == ["a"]


def test_a_question_is_asked_with_the_best_offer_first_and_nothing_chosen():
    data = asks()
    app = start(("scan.csv", data))
    questions = inspect_bytes(data, "scan.csv").questions
    asked = app.radio(key=f"question {questions[0].id}")
    assert asked.options == list(questions[0].options)
    assert asked.value is None
    assert questions[0].text in words(app)
    assert asked.label == "Column 'diagnosis' has the values 'well' and 'ill'. Which one does the probability 'y_prob' refer to?"
    press(app, "Read the file")
    assert "Choose an answer first." in words(app)


def answer_all(app, **answers):
    """Answer question after question; what is asked is what Python and the shell would ask."""
    for name, value in answers.items():
        widgets = [w for w in (*app.radio, *app.selectbox) if w.key == f"question {name}"]
        assert len(widgets) == 1, f"{name} is not asked; {[w.key for w in (*app.radio, *app.selectbox)]}"
        widgets[0].set_value(value).run()
        assert not app.exception
    return app


QUESTIONS = {
    "positive class": (asks(), {"positive": "well"}),
    "logits": (
        rows("label,p_cat,p_dog", *[f"{'cat' if i % 3 else 'dog'},{(i % 9) - 4}.5,{(i % 7) - 3}.25" for i in range(90)]),
        {"scale": "logit", "positive": "dog"},
    ),
    "which label": (
        rows("label,target,y_prob", *[f"{i % 2},{int(i % 10 > 4)},{(i % 10 + 0.5) / 10:.2f}" for i in range(100)]),
        {"label": "target"},
    ),
    "labels to leave out": (
        rows("outcome,y_prob", *[f"{('yes', 'no', 'void')[i % 10 // 4]},{(i % 10 + 0.5) / 10:.2f}" for i in range(100)]),
        {"drop_label": "void"},
    ),
    "separate problems": (
        rows(
            "rain,prob_rain,wind,prob_wind",
            *[f"{i % 2},{(i % 10 + 0.5) / 10:.2f},{int(i % 3 == 0)},{(i % 7 + 0.5) / 7:.2f}" for i in range(100)],
        ),
        {"columns_are": "labels"},
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_have_the_ids_of_the_package_and_their_answers_give_its_figures(name):
    data, answers = QUESTIONS[name]
    told = {}
    for role, value in answers.items():  # each is what the package asks next
        open_ = inspect_bytes(data, "q.csv", cc.Mapping(**told)).questions
        assert [q.id for q in open_] == [role]
        assert value in open_[0].options
        told[role] = value
    app = answer_all(start(("q.csv", data)), **answers)
    wanted = effects_of(read_bytes(data, "q.csv", cc.Mapping(**answers)))
    assert list(figures(app).values()) == [dict(e.figures()) for e in wanted]
    press(app, "Read the file")
    assert not is_open(app)
    assert models(app) == [e.name for e in wanted]


def test_an_answer_can_be_changed_before_the_file_is_read():
    data = asks()
    app = answer_all(start(("scan.csv", data)), positive="ill")
    answer_all(app, positive="well")
    (shown,) = figures(app).values()
    assert shown == figures_of(data, "scan.csv", positive="well")
    press(app, "Start over")
    assert control(app, "question positive").value is None


def test_the_positive_class_is_asked_anew_for_another_label():
    lines = [f"{'ill' if i % 2 else 'well'},{'old' if i % 20 > 9 else 'young'},{(i % 20 + 0.5) / 20:.3f}" for i in range(200)]
    app = answer_all(start(("s.csv", rows("label,age_band,y_prob", *lines))), positive="ill")
    control(app, "role label").set_value("age_band").run()
    assert control(app, "question positive").value is None
    assert set(control(app, "question positive").options) == {"old", "young"}


def test_answers_survive_reruns_page_switches_and_the_removal_of_another_file():
    scan, other = ("scan.csv", asks()), ("other.csv", told_apart())
    app = press(answer_all(start(scan, other), positive="well"), "Read the file")
    app.slider(key="bins").set_value(9).run()
    app.switch_page("views/compare.py").run()
    assert not is_open(app)
    app.switch_page("views/overview.py").run()
    upload(app, scan)
    assert not is_open(app)
    assert models(app) == ["scan"]
    assert "positive class = well" in words(app)


def test_another_file_of_the_same_name_is_asked_anew():
    app = press(answer_all(start(("scan.csv", asks())), positive="well"), "Read the file")
    upload(app, ("scan.csv", asks(n=180)))
    assert is_open(app)
    assert app.radio(key="question positive").value is None


def test_a_file_that_was_removed_is_asked_anew():
    app = press(answer_all(start(("scan.csv", asks())), positive="well"), "Read the file")
    app.file_uploader[0].set_value([]).run()
    upload(app, ("scan.csv", asks()))
    assert app.radio(key="question positive").value is None


def test_changed_answers_are_kept_until_the_new_ones_are_applied():
    app = press(answer_all(start(("scan.csv", asks())), positive="well"), "Read the file")
    press(app, "Change")
    assert app.radio(key="role positive").value == "well"
    press(app, "Start over")
    assert models(app) == ["scan"]
    answer_all(app, positive="ill")
    assert list(figures(app)) == ["Now", "With this choice"]
    press(app, "Read the file")
    assert "positive class = ill" in words(app)


def test_two_files_with_questions_are_asked_one_after_the_other():
    app = start(("one.csv", asks()), ("two.csv", asks(yes="hot", no="cold")))
    assert set(app.radio(key="question positive").options) == {"ill", "well"}
    press(answer_all(app, positive="ill"), "Read the file")
    assert set(app.radio(key="question positive").options) == {"hot", "cold"}
    assert app.radio(key="question positive").value is None
    press(answer_all(app, positive="hot"), "Read the file")
    assert models(app) == ["one", "two"]


def test_the_same_answers_serve_another_file_with_the_same_columns():
    app = start(("one.csv", asks()), ("two.csv", asks(n=180)), ("other.csv", asks(label="state", yes="hot", no="cold")))
    answer_all(app, positive="ill")
    assert plain(app.checkbox(key="same answers").label) == "The same answers for two.csv"
    assert not app.checkbox(key="same answers").value
    press_same = app.checkbox(key="same answers").check().run()
    press(press_same, "Read the file")
    assert set(app.radio(key="question positive").options) == {"hot", "cold"}  # the one that is left
    assert models(press(answer_all(app, positive="hot"), "Read the file")) == ["one", "two", "other"]


def test_many_columns_are_summed_up():
    k = 40
    header = ",".join(["label", *[f"p_{j}" for j in range(k)]])
    lines = [",".join([str(i % k), *["0.61" if j == i % k else "0.01" for j in range(k)]]) for i in range(120)]
    app = press(start(("wide.csv", rows(header, *lines))), "Change")
    assert app.multiselect(key="role probabilities").value == []
    assert app.multiselect(key="role probabilities").placeholder == "p_0 … p_39 (40)"
    assert "And 29 more columns." in words(app)


def test_several_models_have_a_column_each():
    lines = [f"{i % 2},{(i % 20 + 0.5) / 20:.3f},{(i % 8 + 1) / 16}" for i in range(200)]
    data = rows("label,prob_a,prob_b", *lines)
    app = start(("m.csv", data))
    if not is_open(app):
        press(app, "Change")
    app.multiselect(key="role probabilities").set_value(["prob_a", "prob_b"]).run()
    app.selectbox(key="role columns_are").set_value("models").run()
    wanted = effects_of(read_bytes(data, "m.csv", cc.Mapping(probabilities=("prob_a", "prob_b"), columns_are="models")))
    assert [figures(app)[k] for k in figures(app) if "Now" not in k] == [dict(e.figures()) for e in wanted]


def test_names_in_the_dialog_are_never_markup():
    evil = "![x](https://evil.example/a.png) **b** :red[c]"
    lines = [f'"{evil} {i % 2}",{(i % 20 + 0.5) / 20:.3f},"{evil}"' for i in range(200)]
    app = start(("e.csv", rows(f'label,y_prob,"{evil}"', *lines)))
    assert is_open(app)
    for element in (*app.get("markdown"), *app.get("caption"), *app.get("error")):
        assert "](" not in element.value
        assert "**b**" not in element.value
    assert "](" not in app.radio[0].label
    assert all("](" not in o for o in app.radio[0].options)
    assert all("](" not in str(c) for c in app.table[0].value.columns)


def test_the_dialog_reads_a_choice_once(monkeypatch):
    import dashboard.draft

    calls = []
    actual = dashboard.draft.try_bytes
    monkeypatch.setattr(dashboard.draft, "try_bytes", lambda *a: calls.append(dict(a[2])) or actual(*a))
    app = start(("a.csv", told_apart()))
    assert calls == []  # nothing is tried before the dialog is open
    press(app, "Change")
    app.selectbox(key="role weight").set_value("weight").run()
    app.selectbox(key="role weight").set_value(()).run()
    app.selectbox(key="role weight").set_value("weight").run()
    assert [c.get("weight") for c in calls] == [None, "weight", ()]


def test_files_that_belong_together_are_changed_together():
    said = ("scores.csv", rows("id,y_prob,site", *[f"u{i},{(i % 20 + 0.5) / 20:.3f},{'ab'[i % 2]}" for i in range(200)]))
    true = ("truth.csv", rows("id,y_true", *[f"u{i},{int(i % 20 >= 12)}" for i in range(200)]))
    app = start(said, true)
    if models(app) == []:
        pytest.skip("files are not joined")
    assert [b.label for b in app.button].count("Change") == 1
    press(app, "Change")
    assert app.selectbox(key="role label").value == "y_true"
    app.radio(key="role positive").set_value("0").run()
    wanted = effects_of(read_bytes([(n, d) for n, d in (said, true)], "scores.csv + truth.csv", cc.Mapping(positive="0")))
    assert figures(app)["With this choice"] == dict(wanted[0].figures())
    press(app, "Read the file")
    assert "positive class = 0" in words(app)


def test_rows_of_training_are_asked_about_with_the_test_rows_first():
    lines = [f"{int(i % 20 >= 12)},{(i % 20 + 0.5) / 20:.3f},{'test' if i % 4 == 0 else 'train'}" for i in range(200)]
    app = start(("f.csv", rows("y,prob,split", *lines)))
    (radio,) = [r for r in app.radio if r.key == "question rows"]
    assert [plain(o) for o in radio.options] == ["Rows where split is test", "Rows where split is train", "All rows"]
    assert radio.value is None
    radio.set_value("split=test").run()
    press(app, "Read the file")
    assert [m.predictions.n for m in app.session_state["calibcore"].shown] == [50]


def two_classes():
    """Two columns whose names do not say which class each is; they add up to 1 in steps of 1/40."""
    lines = [f"{'ab'[int(i % 20 >= 12)]},{(2 * i + 1) % 40 / 40:.3f},{1 - (2 * i + 1) % 40 / 40:.3f}" for i in range(200)]
    return rows("label,prob_0,prob_1", *lines)


def test_the_positive_class_can_be_changed_after_the_classes_were_answered():
    app = start(("c.csv", asks()))
    app = press(app, "Start over") if not next(b for b in app.button if b.label == "Start over").disabled else app
    app.text_input(key="role classes").set_value("well,ill").run()
    assert app.radio(key="role positive").value == "ill"
    app.radio(key="role positive").set_value("well").run()
    assert not app.exception
    assert not app.error
    (shown,) = figures(app).values()
    assert shown == figures_of(asks(), "c.csv", positive="well")


def test_classes_that_were_asked_for_and_the_positive_class_never_contradict_each_other():
    data = two_classes()
    app = start(("d.csv", data))
    order = app.selectbox(key="question classes").options[0]
    answer_all(app, classes=order)
    app.radio(key="role positive").set_value("a").run()
    assert not any("Leave one of them out" in plain(e.value) for e in app.error)
    answer_all(app, classes=order)
    (shown,) = figures(app).values()
    assert shown == figures_of(data, "d.csv", classes=tuple(order.split(",")))


IN_WORDS = [
    ("classes", "1,0", {"classes": ("1", "0")}),
    ("drop_label", "0", {"drop_label": ("0",)}),
    ("outcome", "weight > 1", {"outcome": "weight > 1"}),
    ("rows", "site=a", {"rows": "site=a"}),
]


def test_what_is_said_in_words_has_a_field():
    data = told_apart()
    app = press(start(("a.csv", data)), "Change")
    for role, typed, answers in IN_WORDS:
        app.text_input(key=f"role {role}").set_value(typed).run()
        assert not app.exception
        wanted = [dict(e.figures()) for e in effects_of(read_bytes(data, "a.csv", cc.Mapping(**answers)))]
        assert [v for k, v in figures(app).items() if k.startswith("With this choice")] == wanted
        app.text_input(key=f"role {role}").set_value("").run()
        assert list(figures(app)) == ["Now"] or not any(k.startswith("Now") for k in figures(app))
        assert next(b for b in app.button if b.label == "Start over").disabled


def test_how_labels_are_joined_has_a_field_where_files_are_joined():
    app = press(start(("a.csv", told_apart())), "Change")
    assert "role pair" not in [t.key for t in app.text_input]
    said = ("scores.csv", rows("id,y_prob", *[f"u{i},{(i % 20 + 0.5) / 20:.3f}" for i in range(200)]))
    true = ("truth.csv", rows("id,y_true", *[f"u{199 - i},{int(i % 20 >= 12)}" for i in range(200)]))
    app = press(start(said, true), "Change")
    app.text_input(key="role pair").set_value("row-order").run()
    wanted = effects_of(read_bytes([said, true], "scores.csv + truth.csv", cc.Mapping(pair="row-order")))
    assert figures(app)["With this choice"] == dict(wanted[0].figures())


def test_both_of_two_columns_are_one_answer():
    data = rows("obs,baseline,new_model", *[f"{int(i % 20 >= 12)},{(i % 20 + 0.5) / 20:.3f},{(i % 8 + 1) / 16}" for i in range(200)])
    app = start(("two.csv", data))
    radio = app.radio(key="question probabilities")
    assert plain(radio.options[0]) == "baseline and new_model: one model each"
    radio.set_value("baseline,new_model").run()
    assert not app.exception
    assert app.radio(key="question probabilities").value == "baseline,new_model"
    assert control(app, "role probabilities").value == ["baseline", "new_model"]
    wanted = effects_of(read_bytes(data, "two.csv", cc.Mapping(probabilities=("baseline", "new_model"))))
    assert list(figures(app).values()) == [dict(e.figures()) for e in wanted]
    press(app, "Read the file")
    assert models(app) == ["baseline", "new_model"]


def two_models():
    """Two models in columns of their own beside a label whose classes have no order."""
    lines = [f"{'churned' if i % 20 >= 12 else 'stayed'},{(i % 20 + 0.5) / 20:.3f},{(i % 8 + 1) / 16}" for i in range(200)]
    return rows("outcome,naive_bayes,random_forest", *lines)


def test_two_questions_that_both_will_come_are_asked_at_once():
    data = two_models()
    app = start(("both.csv", data))
    assert [r.key for r in app.radio if r.key.startswith("question")] == ["question probabilities", "question positive"]
    shown = words(app)
    assert "do the probabilities ('naive_bayes' and 'random_forest') refer to?" in shown
    assert "--" not in shown
    assert "One more question" not in shown
    answer_all(app, positive="churned")
    assert [r.key for r in app.radio if r.key.startswith("question")] == ["question probabilities", "question positive"]
    press(app, "Read the file")
    assert "One more question is open: choose its answer" in words(app)
    answer_all(app, probabilities="naive_bayes,random_forest")
    assert app.radio(key="question positive").value == "churned"
    press(app, "Read the file")
    assert models(app) == ["naive_bayes", "random_forest"]
    wanted = effects_of(read_bytes(data, "both.csv", cc.Mapping(probabilities=("naive_bayes", "random_forest"), positive="churned")))
    assert [m.predictions.n for m in app.session_state["calibcore"].shown] == [e.n for e in wanted]
    assert {m.predictions.positive_class for m in app.session_state["calibcore"].shown} == {"churned"}


def test_a_question_that_comes_up_later_says_so():
    lines = [f"{'ill' if i % 2 else 'well'},{'hot' if i % 20 > 9 else 'cold'},{(i % 20 + 0.5) / 20:.3f}" for i in range(200)]
    app = start(("two.csv", rows("label,target,y_prob", *lines)))
    assert [r.key for r in app.radio if r.key.startswith("question")] == ["question label"]  # each label has classes of its own
    answer_all(app, label="target")
    assert [r.key for r in app.radio if r.key.startswith("question")] == ["question label", "question positive"]
    assert "One more question:" in words(app)
    answer_all(app, positive="hot")
    press(app, "Read the file")
    assert "positive class = hot" in words(app)


def test_a_file_that_asks_can_be_left_out():
    summary = rows("Model,AUC,Accuracy", "Naive Bayes,0.83,0.79", "Random forest,0.9,0.86")
    app = start(("summary.csv", summary), ("a.csv", told_apart()))
    assert is_open(app)
    assert "2 rows: this looks like a summary, not predictions. Which column holds the probability?" in words(app)
    press(app, "Leave this file out")
    assert not is_open(app)
    assert models(app) == ["a"]
    app.switch_page("views/compare.py").run()
    assert not is_open(app)
    assert not app.exception
    next(b for b in app.button if plain(b.label) == "Answer for summary.csv").click().run()
    assert is_open(app)


def test_a_file_that_was_read_is_not_to_be_left_out():
    app = press(start(("a.csv", told_apart())), "Change")
    assert "Leave this file out" not in [b.label for b in app.button]


def test_a_file_that_was_left_out_and_added_again_is_asked_anew():
    app = press(start(("scan.csv", asks())), "Leave this file out")
    assert not is_open(app)
    app.file_uploader[0].set_value([]).run()
    upload(app, ("scan.csv", asks()))
    assert is_open(app)


def test_a_confidence_or_a_probability_is_chosen_in_words():
    lines = [f"{i % 2},{0.5 + (i % 20 + 0.5) / 40:.4f}" for i in range(200)]
    app = start(("half.csv", rows("y,prob", *lines)))
    assert "(none)" not in words(app)
    options = [plain(o) for o in app.radio(key="question confidence").options]
    assert options == ["The probability of one class", "prob: the confidence in the predicted class"]


def test_an_old_value_that_a_browser_sends_late_is_no_choice():
    draft = Draft("k", {})
    assert draft.key_of("role label", None) == "role label"
    later = draft.key_of("role label", "y")  # the dialog itself put y there
    assert later != "role label"
    assert not draft.chosen("role label", "role label", None)  # sent by who had not heard of it
    assert draft.chosen("role label", later, "z")
    assert draft.key_of("role label", "z") == later  # what was chosen in a control leaves it as it is
