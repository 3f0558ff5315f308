"""Files that belong together once more: rows that two columns pair in two ways, labels that stand in both files, near names."""

import io
import itertools
import zipfile
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from calibcore.cli import main
from calibcore.errors import AmbiguousLayout, InputError
from calibcore.io import Mapping, belonging, inspect, read, read_bytes

IDS = ("a7", "b2", "c9", "d4", "e1", "f8", "g3", "h5")
P = (0.9, 0.1, 0.8, 0.7, 0.2, 0.3, 0.6, 0.4)  # on the right side of one half in each row
Y = (1, 0, 1, 1, 0, 0, 1, 0)
BRIER = Fraction(1 + 1 + 4 + 9 + 4 + 9 + 16 + 16, 800)
ORDER = (3, 1, 0, 2, 7, 5, 4, 6)  # of the labels; 1 and 5 stay where they are
BY_ORDER = Fraction(sum((P[i] > 0.5) == Y[j] for i, j in enumerate(ORDER)), 8)  # accuracy if the rows are paired in their order
CONFIDENCE = (0.9, 0.8, 0.6, 0.7, 0.9, 0.8, 0.6, 0.7)


def moved(values):
    return [values[i] for i in ORDER]


@pytest.fixture
def file(tmp_path):
    def write(name, header, *columns):
        path = tmp_path / name
        path.write_text("\n".join([header, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]) + "\n")
        return path

    return write


def brier(predictions):
    p, right = predictions.rows("positive")
    return np.average((p - right) ** 2, weights=predictions.weight)


def accuracy(predictions):
    return np.average(predictions.correct, weights=predictions.weight)


def by_all_ways(predictions, labels, **given):
    """Models or questions of a list in both orders, of ``labels=`` and of a zip archive; all must be the same."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as z:
        z.write(predictions, predictions.name)
        z.write(labels, labels.name)
    mapping = Mapping(**given)
    ways = [
        lambda: read([predictions, labels], mapping=mapping),
        lambda: read([labels, predictions], mapping=mapping),
        lambda: read(predictions, labels=labels, mapping=mapping),
        lambda: read_bytes(archive.getvalue(), "both.zip", mapping),
    ]
    found = []
    for way in ways:
        try:
            found.append(way())
        except AmbiguousLayout as ambiguous:
            found.append({q.id: q.options for q in ambiguous.questions})
    kinds = {type(f) for f in found}
    assert len(kinds) == 1, found
    if kinds == {dict}:
        assert all(f == found[0] for f in found)
    else:
        assert len({accuracy(p) for models in found for p in models}) == 1
    return found[0]


# --- two columns that pair the rows in two ways ----------------------------------------------------------------------------


@pytest.mark.parametrize("counter", ["id", "case", "patient_id", "sample_id"])
def test_a_counter_beside_a_key_is_asked_about_with_the_key_first(file, counter):
    files = (
        file("p.csv", f"{counter},filename,prob", range(8), IDS, P),
        file("y.csv", f"{counter},filename,y", range(8), moved(IDS), moved(Y)),
    )
    assert by_all_ways(*files) == {"pair": ("filename", counter)}


def test_a_counter_beside_a_key_is_joined_as_it_is_answered(file):
    files = (
        file("p.csv", "case,filename,prob", range(8), IDS, P),
        file("y.csv", "case,filename,y", range(8), moved(IDS), moved(Y)),
    )
    (by_name,) = by_all_ways(*files, pair="filename")
    assert (brier(by_name), by_name.ids.tolist()) == (pytest.approx(float(BRIER)), list(IDS))
    (by_count,) = by_all_ways(*files, pair="case")
    assert accuracy(by_count) == pytest.approx(float(BY_ORDER))
    (by_id,) = by_all_ways(*files, id="filename")
    assert brier(by_id) == pytest.approx(float(BRIER))


@pytest.mark.parametrize("counter", ["row", "row_id", "index", "Row Number"])
def test_a_place_in_the_file_gives_way_to_a_key(file, counter):
    files = (
        file("p.csv", f"{counter},filename,prob", range(8), IDS, P),
        file("y.csv", f"{counter},filename,y", range(8), moved(IDS), moved(Y)),
    )
    (found,) = by_all_ways(*files)
    assert (brier(found), found.ids.tolist()) == (pytest.approx(float(BRIER)), list(IDS))
    assert any(f"Column '{counter}' counts the rows of each file" in n for n in found.notes)


def test_two_keys_that_agree_are_no_question(file):
    numbers = (7, 12, 3, 100, 41, 5, 66, 2)
    files = (file("p.csv", "id,filename,prob", numbers, IDS, P), file("y.csv", "id,filename,y", moved(numbers), moved(IDS), moved(Y)))
    (found,) = by_all_ways(*files)
    assert brier(found) == pytest.approx(float(BRIER))
    counted = (file("p.csv", "id,filename,prob", range(8), IDS, P), file("y.csv", "id,filename,y", range(8), IDS, Y))
    assert brier(by_all_ways(*counted)[0]) == pytest.approx(float(BRIER))


def test_two_keys_that_count_nothing_and_disagree_are_asked_about(file):
    numbers = (7, 12, 3, 100, 41, 5, 66, 2)
    files = (file("p.csv", "id,filename,prob", numbers, IDS, P), file("y.csv", "id,filename,y", numbers, moved(IDS), moved(Y)))
    assert set(by_all_ways(*files)["pair"]) == {"id", "filename"}


def test_a_counter_that_pairs_fewer_rows_than_a_key_is_none(file):
    files = (
        file("p.csv", "id,filename,model,prob", range(16), IDS * 2, ["a"] * 8 + ["b"] * 8, P + P),
        file("y.csv", "id,filename,y", range(8), moved(IDS), moved(Y)),
    )
    for way in (read(list(files)), read(files[0], labels=files[1])):
        assert {p.name: brier(p) for p in way} == {"a": pytest.approx(float(BRIER)), "b": pytest.approx(float(BRIER))}


@pytest.mark.parametrize(
    ("name", "values", "options"),
    [
        ("patient_id", (1, 1, 2, 2, 3, 3, 4, 4), ("id",)),  # repeats: it names rows, but cannot pair them
        ("text", IDS, ("text", "id")),
        ("path", tuple(f"here/{i}" for i in IDS), ("path", "id")),
    ],
)
def test_what_names_rows_speaks_against_a_counter(file, name, values, options):
    files = (file("p.csv", f"id,{name},prob", range(8), values, P), file("y.csv", f"id,{name},y", range(8), moved(values), moved(Y)))
    assert by_all_ways(*files) == {"pair": options}
    with pytest.raises(AmbiguousLayout, match=f"with the same 'id' differ in '{name}'"):
        read(list(files))


def test_folders_do_not_speak_against_a_counter(file):
    same = file("y.csv", "id,path,y", range(8), [f"there/old/{i}" for i in IDS], Y)
    other = file("z.csv", "id,path,y", range(8), [f"there/old/{i}" for i in moved(IDS)], moved(Y))
    predictions = file("p.csv", "id,path,prob", range(8), [f"here\\{i}" for i in IDS], P)
    assert brier(by_all_ways(predictions, same)[0]) == pytest.approx(float(BRIER))
    assert by_all_ways(predictions, other) == {"pair": ("id",)}


def test_predicted_classes_do_not_speak_against_a_counter(file):
    guess = (1, 1, 0, 1, 0, 0, 1, 0)
    files = (file("p.csv", "PassengerId,pred,conf", range(892, 900), guess, CONFIDENCE), file("y.csv", "PassengerId,y", range(892, 900), Y))
    (found,) = by_all_ways(*files)
    assert accuracy(found) == pytest.approx(6 / 8)


@pytest.mark.parametrize(("left", "right"), [(range(8), ORDER), (ORDER, range(8))])
def test_row_numbers_of_which_one_file_only_counts_are_asked_about(file, left, right):
    files = (file("p.csv", ",prob", left, [P[i] for i in left]), file("y.csv", ",y", right, [Y[i] for i in right]))
    assert by_all_ways(*files) == {"pair": ("row-order", "row-numbers")}
    (found,) = by_all_ways(*files, pair="row-numbers")
    assert brier(found) == pytest.approx(float(BRIER))
    assert any("joined by saved row numbers: 8 rows" in n for n in found.notes)


def test_saved_row_numbers_can_be_the_ids_of_the_other_file(file):
    numbers = (7, 12, 3, 100, 41, 5, 66, 2)
    real = (file("p.csv", "id,prob", numbers, P), file("y.csv", ",y", moved(numbers), moved(Y)))
    assert brier(by_all_ways(*real)[0]) == pytest.approx(float(BRIER))
    counted = (file("p.csv", "id,prob", range(8), P), file("y.csv", ",y", ORDER, moved(Y)))
    assert by_all_ways(*counted) == {"pair": ("row-order", "id=row-numbers")}
    assert brier(by_all_ways(*counted, pair="id=row-numbers")[0]) == pytest.approx(float(BRIER))


# --- several columns together ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("site", ["site", "fold", "seed"])
def test_an_id_that_repeats_in_each_group_is_told_apart_by_it(file, site):
    ids, groups = (1, 1, 2, 2, 3, 3, 4, 4), ("u", "v") * 4
    files = (file("p.csv", f"id,{site},prob", ids, groups, P), file("y.csv", f"id,{site},y", moved(ids), moved(groups), moved(Y)))
    (found,) = by_all_ways(*files)
    assert brier(found) == pytest.approx(float(BRIER))
    assert any(f"joined by id,{site}: 8 rows" in n for n in found.notes)


def test_an_id_and_any_other_column_are_offered(file):
    ids, other = (1, 1, 2, 2, 3, 3, 4, 4), (5, 6) * 4
    files = (file("p.csv", "id,dose,prob", ids, other, P), file("y.csv", "id,dose,y", moved(ids), moved(other), moved(Y)))
    assert by_all_ways(*files) == {"pair": ("id,dose", "row-order")}
    assert brier(by_all_ways(*files, pair="id,dose")[0]) == pytest.approx(float(BRIER))
    more = file("y.csv", "id,dose,y", [*moved(ids), 9], [*moved(other), 9], [*moved(Y), 1])
    assert by_all_ways(files[0], more) == {"pair": ("id,dose",)}


def test_a_label_never_is_part_of_a_key(file):
    files = [file("p.csv", "id,y,prob", (1, 1, 2, 2), (0, 1, 0, 1), P[:4]), file("y.csv", "id,y", (1, 1, 2, 2), (0, 1, 0, 1))]
    with pytest.raises(InputError, match="2 times in column 'id'"):
        read(files[0], labels=files[1])


def test_times_identify_rows(file):
    days = pd.date_range("2026-01-01", periods=8)
    predictions, labels = pd.DataFrame({"day": days, "prob": P}), pd.DataFrame({"day": moved(days), "y": moved(Y)})
    assert brier(read(predictions, labels=labels)[0]) == pytest.approx(float(BRIER))


# --- labels in both files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["y_true", "truth", "y", "gold_label"])
def test_a_column_of_labels_is_never_the_predicted_class(file, name):
    labels = file("y.csv", f"id,{name}", moved(IDS), moved(Y))
    confident = file("p.csv", f"id,{name},confidence", IDS, Y, CONFIDENCE)
    assert by_all_ways(confident, labels).keys() == {"probabilities"}
    (found,) = by_all_ways(file("p.csv", f"id,{name},prob", IDS, Y, CONFIDENCE), labels)  # each row is predicted to be 1
    assert accuracy(found) == pytest.approx(sum(Y) / 8)
    assert found.source["roles"]["label"] == name


def test_the_same_labels_in_both_files_are_no_question(file):
    files = (file("p.csv", "id,y,prob", IDS, Y, P), file("y.csv", "id,y", moved(IDS), moved(Y)))
    (found,) = by_all_ways(*files)
    assert brier(found) == pytest.approx(float(BRIER))
    assert read(files[0], labels=files[1])[0].source["roles"]["label"] == "y"


@pytest.mark.parametrize("name", ["label", "target", "class"])
def test_a_column_that_is_the_label_when_read_alone_stays_it(file, name):
    (found,) = by_all_ways(file("p.csv", f"id,{name},prob", IDS, Y, P), file("y.csv", f"id,{name}", moved(IDS), moved(Y)))
    assert brier(found) == pytest.approx(float(BRIER))


def test_labels_that_are_given_count_and_it_is_said_where_others_differ(file):
    new = (1, 0, 1, 1, 0, 0, 1, 1)
    predictions, labels = file("p.csv", "id,y,prob", IDS, Y, P), file("y.csv", "id,y", moved(IDS), moved(new))
    with pytest.raises(AmbiguousLayout, match="Which labels count"):
        read([predictions, labels])
    (found,) = read(predictions, labels=labels)
    assert accuracy(found) == pytest.approx(7 / 8)
    assert any("Column 'y' of p.csv differs from the labels of y.csv, which count, in 1 of 8 rows" in n for n in found.notes)


def test_labels_that_differ_are_asked_about_whatever_else_is_open(file):
    files = [
        file("p.csv", "id,y_true,confidence", IDS, Y, CONFIDENCE),
        file("y.csv", "id,y_true", moved(IDS), moved((1, 0, 1, 1, 0, 0, 1, 1))),
    ]
    with pytest.raises(AmbiguousLayout, match="Which labels count"):
        read(files)


def test_a_prediction_that_is_right_in_each_row_is_asked_about(file):
    classes, scores = ("cat", "dog") * 4, (0.9, 0.8, 0.7, 0.6, 0.95, 0.85, 0.75, 0.65)
    files = (file("p.csv", "id,label,score", IDS, classes, scores), file("y.csv", "id,label", moved(IDS), moved(classes)))
    assert by_all_ways(*files) == {"predicted": ("label", "none")}
    (found,) = by_all_ways(*files, predicted="label")
    assert (accuracy(found), found.task) == (1, "top_label")
    wrong = file("y.csv", "id,label", moved(IDS), moved((*classes[:6], "dog", "cat")))
    assert accuracy(by_all_ways(files[0], wrong)[0]) == pytest.approx(6 / 8)


def test_no_predicted_class_stays_none(file):
    predictions = file("p.csv", "id,label,score", IDS, (1, 0, 1, 1, 1, 0, 0, 1), P)
    (found,) = read(predictions, labels=file("y.csv", "id,label", moved(IDS), moved(Y)), mapping=Mapping(predicted=()))
    assert brier(found) == pytest.approx(float(BRIER))


def test_equal_labels_are_seen_in_row_order_as_well(file):
    files = (file("p.csv", "y,prob", Y, P), file("y.csv", "y,age", Y, range(30, 38)))
    (found,) = by_all_ways(*files, pair="row-order")
    assert brier(found) == pytest.approx(float(BRIER))


# --- several files ---------------------------------------------------------------------------------------------------------


def test_models_with_counters_of_their_own_are_joined_by_the_key(file):
    turned = tuple(reversed(range(8)))
    files = [
        file("m1.csv", "row_id,filename,prob", range(8), IDS, P),
        file("m2.csv", "row_id,filename,prob", range(8), [IDS[i] for i in turned], [P[i] for i in turned]),
        file("y.csv", "row_id,filename,y", range(8), moved(IDS), moved(Y)),
    ]
    for order in itertools.permutations(files):
        found = read(list(order))
        assert {p.name: brier(p) for p in found} == {"m1": pytest.approx(float(BRIER)), "m2": pytest.approx(float(BRIER))}
        assert {i for p in found for i in p.ids.tolist()} == set(IDS)
    assert belonging([(f.name, f.read_bytes()) for f in files]) == [(0, 2), (1, 2)]


# --- what is said ----------------------------------------------------------------------------------------------------------


def test_a_near_name_is_suggested(file):
    features = [f"x{i}" for i in range(20)]
    predictions = file("p.csv", "id,prob", IDS, P)
    labels = file("y.csv", ",".join(["id", *features, "y_true"]), IDS, *[range(8)] * 20, Y)
    with pytest.raises(InputError, match=r"no column called 'y_tru' in y\.csv\. Is 'y_true' meant\?"):
        read(predictions, labels=labels, mapping=Mapping(label="y_tru"))
    with pytest.raises(InputError, match=r"'idd', which is no column of p\.csv.*Is 'id' meant\?"):
        read([predictions, labels], mapping=Mapping(pair="idd"))
    with pytest.raises(InputError, match=r"no column called 'weather' in y\.csv\. Its columns are"):
        read(predictions, labels=labels, mapping=Mapping(label="weather"))


def test_a_fault_of_the_labels_names_each_file_once(file, capsys):
    predictions, labels = file("p.csv", "id,prob", "abc", P[:3]), file("y.csv", "id,y", "aac", Y[:3])
    for problem in (inspect([predictions, labels]).problem, _stderr(capsys, predictions, labels)):
        assert problem.startswith("y.csv: 'a' is 2 times in column 'id', so it does not say which row of p.csv it belongs to.")


def _stderr(capsys, predictions, labels):
    assert main(["measure", str(predictions), "--labels-file", str(labels)]) == 2
    return capsys.readouterr().err.strip().removeprefix("Error: ")


def test_one_row_is_one(file):
    (found,) = read([file("p.csv", "id,prob", "a", P[:1]), file("y.csv", "id,y", "a", Y[:1])])
    assert "Labels of y.csv, joined by id: 1 row." in found.notes
