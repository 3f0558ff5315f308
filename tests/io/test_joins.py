"""Predictions and labels in separate files: which is which, which row belongs to which, and what is asked or refused."""

import io
import itertools
import json
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.analysis import Settings, analyze
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, inspect, read, read_bytes

# eight rows: id, P(1), label
IDS = ("a7", "b2", "c9", "d4", "e1", "f8", "g3", "h5")
P = (0.75, 0.25, 0.5, 1.0, 0.75, 0.0, 0.25, 0.5)
Y = (1, 0, 1, 1, 0, 0, 1, 0)
BRIER = (1 / 16 + 1 / 16 + 1 / 4 + 0 + 9 / 16 + 0 + 9 / 16 + 1 / 4) / 8
# three classes, six rows: the label's probability is 1/2, 1/4, 1/2, 1/4, 3/4, 1/4
MATRIX = ((0.5, 0.25, 0.25), (0.5, 0.25, 0.25), (0.25, 0.25, 0.5), (0.25, 0.25, 0.5), (0.125, 0.75, 0.125), (0.25, 0.25, 0.5))
CLASS = (0, 1, 2, 0, 1, 0)
RIGHT = 3 / 6


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def table(header, *columns, separator=","):
    return "\n".join([header, *(separator.join(map(str, row)) for row in zip(*columns, strict=True))]) + "\n"


def lines(*columns, separator=" "):
    return "\n".join(separator.join(map(str, row)) for row in zip(*columns, strict=True)) + "\n"


def brier(predictions):
    p, right = predictions.rows("positive")
    return np.average((p - right) ** 2, weights=predictions.weight)


def accuracy(predictions):
    return np.average(predictions.correct, weights=predictions.weight)


def turned(files, case):
    """Two files in the order of half of the cases, and in the other order for the other half."""
    return files[:: -1 if len(case) % 2 else 1]


def shuffled(*columns, seed=1):
    rows = list(zip(*columns, strict=True))
    random.Random(seed).shuffle(rows)
    return tuple(zip(*rows, strict=True))


def asked(source, **given):
    with pytest.raises(AmbiguousLayout) as raised:
        read(source, mapping=Mapping(**given))
    return {q.id: q.options for q in raised.value.questions}


# --- joined by id ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("id,prob", "id,y"),
        ("sample_id,score", "sample_id,outcome"),
        ("ID,probability", "ID,Churned"),
        ("image,y_prob", "image,label"),
        ("case,target", "case,target"),  # a submission and its solution
        ("filename,risk", "filename,repaid"),
        ("file,p", "image_path,true_label"),  # ids of different names with the same values
    ],
)
def test_labels_are_joined_by_the_id_of_both_files(file, left, right):
    files = [file("model_a.csv", table(left, IDS, P)), file("truth.csv", table(right, *shuffled(IDS, Y)))]
    (found,) = read(turned(files, left))
    assert brier(found) == pytest.approx(BRIER, abs=1e-12)
    assert (found.name, found.n) == ("model_a", 8)
    assert any("truth.csv, joined by " in n and "8 rows" in n for n in found.notes)


def test_source_names_both_files_with_their_hashes(file):
    a, b = file("p.csv", table("id,prob", IDS, P)), file("y.csv", table("id,y", IDS, Y))
    (found,) = read([a, b])
    (alone,) = read(a, labels=b)
    for source in (found.source, alone.source):
        assert (source["file"], source["labels_file"], source["roles"]["label"]) == ("p.csv", "y.csv", "y")
        assert len({source["sha256"], source["labels_sha256"]}) == 2


@pytest.mark.parametrize("written", [lambda i: f"{i}", lambda i: f"{i}.0", lambda i: f'"{i}"', lambda i: f"{i:04}", lambda i: f" {i} "])
def test_ids_are_equal_as_numbers(file, written):
    ids = (7, 12, 3, 100, 41, 5, 66, 2)
    files = [file("p.csv", table("id,prob", map(written, ids), P)), file("y.csv", table("id,y", *shuffled(ids, Y)))]
    assert brier(read(files)[0]) == pytest.approx(BRIER, abs=1e-12)


def test_ids_that_are_equal_only_as_numbers_stay_apart(file):
    ids, others = ("007", "7", "8", "9", "10", "11", "12", "13"), ("7", "007", "9", "8", "10", "11", "12", "13")
    y = (0, 1, 1, 1, 0, 0, 1, 0)
    (found,) = read([file("p.csv", table("id,prob", ids, P)), file("y.csv", table("id,y", others, y))])
    assert brier(found) == pytest.approx(BRIER, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(8)), st.permutations(range(8)))
def test_order_of_rows_does_not_matter(one, other):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("y.csv", table("id,y", [IDS[i] for i in other], [Y[i] for i in other]))
        z.writestr("p.csv", table("id,prob", [IDS[i] for i in one], [P[i] for i in one]))
    (found,) = read_bytes(archive.getvalue(), "both.zip")
    assert brier(found) == pytest.approx(BRIER, abs=1e-12)
    assert found.ids.tolist() == [IDS[i] for i in one]


def test_several_models_share_one_file_of_labels(file):
    files = [
        file("resnet.csv", table("image,p_0,p_1,p_2", IDS[:6], *zip(*MATRIX, strict=True))),
        file("labels.csv", table("image,class_index", *shuffled(IDS[:6], CLASS))),
        file("vit.csv", table("image,p_0,p_1,p_2", *shuffled(IDS[:6], *zip(*MATRIX, strict=True), seed=3))),
    ]
    for order in itertools.permutations(files):
        found = read(list(order))
        assert {p.name for p in found} == {"resnet", "vit"}
        assert [accuracy(p) for p in found] == [pytest.approx(RIGHT)] * 2


def test_complete_files_are_read_alone_beside_those_that_are_joined(file):
    whole = file("whole.csv", table("y,prob", Y, P))
    files = [whole, file("p.csv", table("id,prob", IDS, P)), file("y.csv", table("id,y", *shuffled(IDS, Y)))]
    assert [(p.name, brier(p)) for p in read(files)] == [("whole", pytest.approx(BRIER)), ("p", pytest.approx(BRIER))]
    assert [p.name for p in read([whole, whole])] == ["whole", "whole (2)"]


def test_rows_without_a_partner_are_counted(file):
    ids, y = (*IDS, "x1", "x2"), (*Y, 1, 0)
    labels = file("y.csv", table("id,y", ids, y))
    (found,) = read([file("p.csv", table("id,prob", IDS, P)), labels])
    assert any("2 rows of y.csv without a prediction left out" in n for n in found.notes)
    more = file("more.csv", table("id,prob", ("k1", *ids, "k2"), (0.5, *P, 0.5, 0.5, 0.5)))
    with pytest.raises(
        InputError, match=r"2 of 12 rows of more\.csv have no label in y\.csv \('k1' in row 1 is the first\).*--missing drop"
    ):
        read([more, labels])
    (found,) = read([more, labels], mapping=Mapping(missing="drop"))
    assert (found.n, found.n_excluded) == (10, 2)
    assert any("2 of 12 rows left out" in n for n in found.notes)


def test_a_repeated_id_is_refused_by_name(file):
    good, twice = table("id,prob", IDS, P), table("id,y", (*IDS, "d4"), (*Y, 1))
    with pytest.raises(InputError, match=r"y\.csv: 'd4' is 2 times in column 'id'"):
        read([file("p.csv", good), file("y.csv", twice)])
    with pytest.raises(InputError, match=r"q\.csv: 'a7' is 2 times in column 'id'"):
        read([file("q.csv", table("id,prob", ("a7", *IDS), (0.5, *P))), file("z.csv", table("id,y", IDS, Y))])


def test_ids_repeat_for_each_model(file):
    rows = [(i, m, p if m == "gbm" else 0.5) for m in ("gbm", "flat") for i, p in zip(IDS, P, strict=True)]
    found = read([file("p.csv", table("id,model,prob", *zip(*rows, strict=True))), file("y.csv", table("id,y", *shuffled(IDS, Y)))])
    assert {p.name: brier(p) for p in found} == {"gbm": pytest.approx(BRIER), "flat": pytest.approx(1 / 4)}


def test_two_columns_together_identify_a_row(file):
    patient, visit = ("p1", "p1", "p2", "p2", "p3", "p3", "p4", "p4"), (1, 2) * 4
    files = [
        file("p.csv", table("patient_id,visit,risk", patient, visit, P)),
        file("y.csv", table("patient_id,visit,died", *shuffled(patient, visit, Y))),
    ]
    assert brier(read(files)[0]) == pytest.approx(BRIER, abs=1e-12)


def test_no_id_in_common_is_refused(file):
    files = [file("p.csv", table("id,prob", IDS, P)), file("y.csv", table("id,y", [f"{i}.png" for i in IDS], Y))]
    with pytest.raises(InputError, match=r"'id' \(such as 'a7'\) and 'id' \(such as 'a7.png'\) have no value in common"):
        read(files)
    assert brier(read(files, mapping=Mapping(pair="row-order"))[0]) == pytest.approx(BRIER)


def test_groups_and_weights_come_along(file):
    usage, weight = ("Public", "Private") * 4, (1, 2, 1, 1, 1, 1, 1, 1)
    truth = file("truth.csv", table("id,target,Usage,weight,age", *shuffled(IDS, Y, usage, weight, range(8))))
    (found,) = read(file("p.csv", table("id,target", IDS, P)), labels=truth)
    assert found.groups["Usage"].tolist() == list(usage)
    (found,) = read(file("p.csv", table("id,target", IDS, P)), labels=truth, mapping=Mapping(weight="weight"))
    total = (1 / 16 + 2 / 16 + 1 / 4 + 9 / 16 + 9 / 16 + 1 / 4) / 9
    assert brier(found) == pytest.approx(total, abs=1e-12)


def test_features_beside_the_label_are_no_probabilities(file):
    ratio = (0.1, 0.9, 0.3, 0.4, 0.6, 0.7, 0.2, 0.8)
    labels = file("y.csv", table("id,y,ratio", *shuffled(IDS, Y, ratio)))
    assert brier(read([file("p.csv", table("id,prob", IDS, P)), labels])[0]) == pytest.approx(BRIER)


def test_which_column_of_the_labels_counts_is_asked(file):
    reader = (0, 0, 1, 1, 0, 0, 1, 1)
    files = [file("p.csv", table("id,prob", IDS, P)), file("y.csv", table("id,reader1,died", *shuffled(IDS, reader, Y)))]
    assert set(asked(files)["label"]) == {"reader1", "died"}
    assert brier(read(files, mapping=Mapping(label="died"))[0]) == pytest.approx(BRIER)
    with pytest.raises(InputError, match=r"no column called 'nope' in y\.csv"):
        read(files[0], labels=files[1], mapping=Mapping(label="nope"))


def test_labels_in_both_files_are_asked_about(file):
    guess = (1, 0, 1, 1, 1, 0, 0, 1)  # what a pipeline calls "label" is its prediction
    files = [file("p.csv", table("id,label,score", IDS, guess, P)), file("y.csv", table("id,label", *shuffled(IDS, Y)))]
    assert asked(files)["label"] == ("label (y.csv)", "label")
    assert brier(read(files, mapping=Mapping(label="label (y.csv)"))[0]) == pytest.approx(BRIER)
    assert brier(read(files[0], labels=files[1])[0]) == pytest.approx(BRIER)
    own = sum((p - g) ** 2 for p, g in zip(P, guess, strict=True)) / 8
    for order in (files, files[::-1]):
        (found,) = read(order, mapping=Mapping(label="label"))
        assert brier(found) == pytest.approx(own)
        assert any("nothing of y.csv is used" in n for n in found.notes)


def test_labels_by_elimination_never_win_over_others_in_silence(file):
    flag = (0, 1, 1, 0, 1, 0, 0, 1)
    files = [file("p.csv", table("id,flag,prob", IDS, flag, P)), file("y.csv", table("id,died", *shuffled(IDS, Y)))]
    assert asked(files)["label"] == ("died", "flag")
    assert brier(read(files, mapping=Mapping(label="died"))[0]) == pytest.approx(BRIER)
    (found,) = read(files, mapping=Mapping(label="flag"))
    assert brier(found) == pytest.approx(sum((p - f) ** 2 for p, f in zip(P, flag, strict=True)) / 8)


def test_the_same_labels_twice_are_no_question(file):
    files = [file("p.csv", table("id,y,prob", IDS, Y, P)), file("y.csv", table("id,y", *shuffled(IDS, Y)))]
    (found,) = read(files)
    assert brier(found) == pytest.approx(BRIER)
    assert any("nothing of y.csv is used" in n for n in found.notes)


def test_a_test_set_with_features_is_asked_about(file):
    features = (range(30, 38), [20.5 + i / 3 for i in range(8)], [100.25 + i for i in range(8)])
    files = [
        file("pred.csv", table("predict,no,yes", ["yes" if p > 0.4 else "no" for p in P], [1 - p for p in P], P)),
        file("test.csv", table("age,bmi,glucose,churn", *features, ["yes" if y else "no" for y in Y])),
    ]
    for order in (files, files[::-1]):
        assert asked(order) == {"pair": ("row-order",), "label": ("churn",)}
        assert brier(read(order, mapping=Mapping(pair="row-order", label="churn"))[0]) == pytest.approx(BRIER)


def test_one_hot_labels_in_an_array(file):
    files = [file("probs.npy", npy(np.array(MATRIX))), file("y_test.npy", npy(np.eye(3, dtype=int)[list(CLASS)]))]
    assert accuracy(read(files)[0]) == pytest.approx(RIGHT)


def test_a_label_that_a_pipeline_gives_is_its_prediction(file):
    guess = [("cat", "dog", "emu")[int(np.argmax(r))] for r in MATRIX]
    rows = zip(guess, MATRIX, strict=True)
    files = [
        file("out.jsonl", "".join(f'{{"label": "{c}", "score": {max(r)}}}\n' for c, r in rows)),
        file("gold.csv", table("text,label", [f"made up {i}" for i in range(6)], WORDS)),
    ]
    (found,) = read(files, mapping=Mapping(pair="row-order"))
    assert (found.task, accuracy(found)) == ("top_label", pytest.approx(RIGHT))
    assert found.confidence.tolist() == [max(r) for r in MATRIX]


def test_resolutions_that_are_no_outcome_are_asked_about_and_counted(file):
    ids = (*IDS, "i6", "j0")
    files = [
        file("forecast_data.csv", table("Question ID,Forecaster Username,Probability Yes", ids, ["crowd"] * 10, (*P, 0.5, 0.5))),
        file(
            "question_data.csv",
            table(
                "Question ID,Question Title,Question Type,Resolution",
                *shuffled(ids, [f"Will {i}?" for i in ids], ["binary"] * 10, [*("yes" if y else "no" for y in Y), "annulled", "ambiguous"]),
            ),
        ),
    ]
    (options,) = asked(files)["drop_label"]
    (found,) = read(files, mapping=Mapping(drop_label=tuple(options.split(","))))
    assert (found.n, found.n_excluded, brier(found)) == (8, 2, pytest.approx(BRIER))


def test_several_outcomes_with_a_probability_each(file):
    turned = Y[::-1]
    files = [
        file("p.csv", table("id,prob_rain,prob_snow", IDS, P, P[::-1])),
        file("y.csv", table("id,rain,snow", *shuffled(IDS, Y, turned))),
    ]
    assert asked(files) == {"columns_are": ("labels",)}
    found = read(files, mapping=Mapping(columns_are="labels"))
    assert {p.name: brier(p) for p in found} == {"rain": pytest.approx(BRIER), "snow": pytest.approx(BRIER)}


def test_a_named_id_is_the_key(file):
    numbers = (4, 3, 2, 1, 8, 7, 6, 5)
    files = [file("p.csv", table("n,prob", numbers, P)), file("y.csv", table("n,y", *shuffled(numbers, Y)))]
    (found,) = read(files, mapping=Mapping(id="n"))
    assert (brier(found), found.ids.tolist()) == (pytest.approx(BRIER), [str(n) for n in numbers])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 2**53), min_size=8, max_size=8, unique=True), st.booleans())
def test_any_whole_numbers_can_be_ids(ids, as_floats):
    labels = table("id,y", [float(i) if as_floats else i for i in reversed(ids)], reversed(Y))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("p.csv", table("id,prob", ids, P))
        z.writestr("y.csv", labels)
    assert brier(read_bytes(archive.getvalue(), "both.zip")[0]) == pytest.approx(BRIER, abs=1e-12)


# --- paired in row order --------------------------------------------------------------------------------------------------

WORDS = [("cat", "dog", "emu")[c] for c in CLASS]
HEADERLESS = {
    "savetxt": ("probs.csv", lines(*zip(*MATRIX, strict=True), separator=","), "labels.txt", lines(CLASS)),
    "savetxt with blanks": ("probs.txt", lines(*zip(*MATRIX, strict=True)), "y_test.txt", lines([f"{c:.18e}" for c in CLASS])),
    "LightGBM": ("LightGBM_predict_result.txt", lines(*zip(*MATRIX, strict=True), separator="\t"), "truth.csv", table("y", CLASS)),
    "labels with a row number": ("p.tsv", lines(*zip(*MATRIX, strict=True), separator="\t"), "y.tsv", table("row,y", range(6), CLASS)),
    "LIBSVM": (
        "out.txt",
        "labels 2 0 1\n" + "".join(f"{int(np.argmax(r))} {r[2]} {r[0]} {r[1]}\n" for r in MATRIX),
        "test.svm",
        "".join(f"{c} 1:0.5 3:{i}.25\n" for i, c in enumerate(CLASS)),
    ),
    "svmlight labels": ("p.csv", lines(*zip(*MATRIX, strict=True), separator=","), "test.txt", "".join(f"{c} 2:1.5\n" for c in CLASS)),
}


@pytest.mark.parametrize("name", HEADERLESS)
def test_files_without_ids_are_paired_in_row_order_once_that_is_said(file, name):
    left, predictions, right, labels = HEADERLESS[name]
    files = turned([file(left, predictions), file(right, labels)], name)
    assert asked(files) == {"pair": ("row-order",)}
    (found,) = read(files, mapping=Mapping(pair="row-order"))
    assert (found.classes, accuracy(found), found.n) == (("0", "1", "2"), pytest.approx(RIGHT), 6)
    assert any("paired in row order: 6 rows" in n for n in found.notes)


def test_labels_that_count_from_one_or_are_words_are_asked_about_with_the_order(file):
    predictions = file("probs.csv", lines(*zip(*MATRIX, strict=True), separator=","))
    for labels, best in (([c + 1 for c in CLASS], "1,2,3"), (WORDS, "cat,dog,emu")):
        files = [predictions, file("labels.txt", lines(labels))]
        options = asked(files)
        assert (set(options), options["classes"][0]) == ({"pair", "classes"}, best)
        (found,) = read(files, mapping=Mapping(pair="row-order", classes=tuple(best.split(","))))
        assert accuracy(found) == pytest.approx(RIGHT)


def test_binary_probabilities_one_a_line(file):
    files = [file("xgb.txt", lines(P)), file("labels.txt", lines(Y))]
    assert asked(files) == {"pair": ("row-order",)}
    assert brier(read(files, mapping=Mapping(pair="row-order"))[0]) == pytest.approx(BRIER)
    signed = file("test.svm", "".join(f"{'+1' if y else '-1'} 1:0.5\n" for y in Y))
    (found,) = read([files[0], signed], mapping=Mapping(pair="row-order"))
    assert (brier(found), found.classes) == (pytest.approx(BRIER), ("-1", "+1"))


def test_fasttext_output_and_its_labels(file):
    rows = [sorted(zip(("cat", "dog", "emu"), r, strict=True), key=lambda x: -x[1]) for r in MATRIX]
    out = "".join(" ".join(f"__label__{c} {p}" for c, p in row) + "\n" for row in rows)
    for labels in (lines(WORDS), lines([f"__label__{w}" for w in WORDS])):
        files = [file("out.txt", out), file("gold.txt", labels)]
        (found,) = read(files, mapping=Mapping(pair="row-order"))
        assert (found.classes, accuracy(found)) == (("cat", "dog", "emu"), pytest.approx(RIGHT))


def test_numbers_of_rows_must_agree(file):
    files = [file("probs.csv", lines(P)), file("labels.txt", lines(Y[:7]))]
    for mapping in (Mapping(), Mapping(pair="row-order")):
        with pytest.raises(InputError, match=r"probs\.csv has 8 rows and labels\.txt 7"):
            read(files, mapping=mapping)


def test_a_column_of_both_that_differs_speaks_against_row_order(file):
    site = ("x", "x", "y", "y", "x", "y", "y", "x")
    files = [file("p.csv", table("site,prob", site, P)), file("y.csv", table("site,y", site[::-1], Y[::-1]))]
    with pytest.raises(AmbiguousLayout, match="Column 'site' speaks against it"):
        read(files)
    (found,) = read(files, mapping=Mapping(pair="row-order"))
    assert any("'site' differs" in n for n in found.notes)


def test_pair_names_a_column_or_two(file):
    files = [file("p.csv", table("n,prob", IDS, P)), file("y.csv", table("m,y", *shuffled(IDS, Y)))]
    assert brier(read(files, mapping=Mapping(pair="n=m"))[0]) == pytest.approx(BRIER)
    with pytest.raises(InputError, match=r"pair \(--pair\) names 'm', which is no column of p\.csv"):
        read(files, mapping=Mapping(pair="m"))
    with pytest.raises(InputError, match="there is none"):
        read(table("y,prob", Y, P).encode(), mapping=Mapping(pair="row-order"))


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


@pytest.mark.parametrize("shape", [(6,), (6, 1)])
def test_arrays_have_only_their_order(file, shape):
    logits = np.log(np.array(MATRIX)).astype(np.float32) + 1
    files = [file("logits.npy", npy(logits)), file("labels.npy", npy(np.array(CLASS).reshape(shape)))]
    for order in (files, files[::-1]):
        (found,) = read(order)
        assert (accuracy(found), found.n) == (pytest.approx(RIGHT), 6)
        assert any("paired in row order" in n for n in found.notes)


def test_each_file_of_labels_belongs_to_the_predictions_of_its_name(file):
    sets = {"val": (MATRIX, CLASS), "test": (MATRIX[:5], CLASS[:5])}
    files = [file(f"{n}_probs.npy", npy(np.array(m))) for n, (m, _) in sets.items()]
    files += [file(f"{n}_labels.npy", npy(np.array(c))) for n, (_, c) in sets.items()]
    assert {p.name: (p.n, accuracy(p)) for p in read(files)} == {
        "val_probs": (6, pytest.approx(3 / 6)),
        "test_probs": (5, pytest.approx(3 / 5)),
    }


def test_labels_that_could_belong_to_either_are_refused(file):
    files = [file("p.csv", lines(P)), file("a.txt", lines(Y)), file("b.txt", lines(Y[::-1]))]
    with pytest.raises(InputError, match=r"a\.txt and b\.txt hold labels, and each could be those of p\.csv"):
        read(files)


# --- archives and first looks ---------------------------------------------------------------------------------------------


def test_files_in_an_archive_are_joined(file):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("run/p.csv", table("id,prob", IDS, P))
        z.writestr("run/y.csv", table("id,y", *shuffled(IDS, Y)))
        z.writestr("readme.md", "text")
    (found,) = read(file("all.zip", archive.getvalue()))
    assert (found.name, brier(found), found.source["labels_file"]) == ("p", pytest.approx(BRIER), "all.zip/run/y.csv")


def test_a_first_look_asks_the_same_and_says_the_same(file):
    files = [file("p.csv", lines(P)), file("y.txt", lines(Y))]
    layout = inspect(files)
    assert (layout.file, [q.id for q in layout.questions]) == ("p.csv + y.txt", ["pair"])
    layout = inspect(files[0], labels=files[1], mapping=Mapping(pair="row-order"))
    assert (layout.roles["label"], layout.questions, layout.n_rows) == ("label", (), 8)


def test_predictions_without_any_labels_say_the_way_out(file):
    files = [file("p.csv", table("id,prob", IDS, P)), file("q.csv", table("id,prob", IDS, P))]
    with pytest.raises(InputError, match=r"p\.csv: .*no column of labels.*--labels-file"):
        read(files)


# --- sample files with known figures --------------------------------------------------------------------------------------

FIXTURES = Path(__file__).parent.parent / "data" / "fixtures"
UNASKED = ("kaggle_binary_pair", "metaculus_pair", "nannyml_pair", "npy_logits_pair", "per_model_files")
IN_ORDER = ("libsvm_pair", "lightgbm_tab_pair", "savetxt_pair", "hf_pipeline_all_scores")


@pytest.mark.parametrize("name", [*UNASKED, *IN_ORDER])
def test_fixture_is_joined_to_its_figures(name):
    expect = json.loads((FIXTURES / f"{name}.expect.json").read_text())
    files = turned([FIXTURES / f for f in expect["files"]], name)
    if name in IN_ORDER:
        assert asked(files) == {"pair": ("row-order",)}
    found = read(files, mapping=Mapping(pair="row-order") if name in IN_ORDER else None)
    models = expect.get("models") or {found[0].name.rpartition("__")[2]: expect.get("as_written", expect)}
    assert {p.name.rpartition("__")[2] for p in found} == set(models)
    for p in found:
        want = models[p.name.rpartition("__")[2]]
        got = analyze(p, Settings(n_bins=15)).to_dict()
        tolerance = expect["tolerance"].get("all", 1e-9)
        assert got["n"] == want["n"]
        assert got["accuracy"] == pytest.approx(want["accuracy"], abs=1e-9)
        assert got["mean_confidence"] == pytest.approx(want["mean_confidence"], abs=tolerance)
        assert got["ece"] == pytest.approx(want["top_label_ece_15_equal_width_right_closed"], abs=tolerance)
