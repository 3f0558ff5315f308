"""Profile files among the files that are read: models, layout, groups, and one sentence for what is wrong."""

import functools
import gzip
import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_profiles import KINDS, binary, bytes_of, file_of, profiles_of, several

import calibcore as cc
from calibcore.errors import InputError
from calibcore.held import NO_ROWS
from calibcore.io import belonging, inspect_bytes, read_bytes
from calibcore.io.effects import try_bytes
from calibcore.io.profile_file import is_profile, read_profiles, write_profiles
from calibcore.measures.reduction import Precision

CSV = b"y_true,y_prob\n1,0.9\n0,0.2\n1,0.7\n"
PREDICTIONS, LABELS = b"id,y_prob\na,0.9\nb,0.2\nc,0.6\nd,0.3\n", b"id,label\na,1\nb,0\nc,0\nd,1\n"


@pytest.fixture
def path(tmp_path):
    """Write bytes to a file and give its path."""

    def write(data, name="m.profile.parquet"):
        where = tmp_path / name
        where.write_bytes(data)
        return where

    return write


whole = functools.cache(binary)


@functools.cache
def model(kind):
    """The one model of a profile file; what is worked out of it is kept for the next test."""
    (found,) = cc.read(file_of(kind))
    return found


def sentence(call, *args, **more):
    with pytest.raises(InputError) as caught:
        call(*args, **more)
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith(".")
    return said


# --- what is read ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_by_path_and_by_bytes(kind, path):
    data = file_of(kind)
    (by_path,), (by_bytes,) = cc.read(path(data)), read_bytes(data, "m.profile.parquet")
    (direct,) = cc.read(data)
    assert by_path.name == by_bytes.name == direct.name
    assert not by_path.has_rows
    assert bytes_of(by_path) == bytes_of(by_bytes)
    layout = cc.inspect(path(data))
    assert (layout.format, layout.questions, layout.problem, layout.models) == ("calibcore profile", (), None, 1)
    assert layout.n_rows == by_path.n
    assert layout.sentence.startswith(f"Profile of {by_path.n:,} rows: view")
    assert layout == inspect_bytes(data, "m.profile.parquet")


def test_the_layout_says_what_is_in_it():
    data = bytes_of(profiles_of(binary(), "site", "age"), profiles_of(several(), "ward"))
    layout = inspect_bytes(data, "two.profile.parquet")
    said = (
        "Profile of 3,000 rows and 2,000 rows: views top label, positive class and each of 5 classes; groups by site (3), age (4) and "
        "ward (2); models credit and animals."
    )
    assert layout.sentence == said
    assert layout.models == 2
    assert json.loads(json.dumps(layout.to_dict()))["format"] == "calibcore profile"


def test_where_it_comes_from(path):
    rows = cc.read(b"label,p\n" + b"1,0.9\n0,0.2\n" * 60, name="rows")[0]
    (found,) = cc.read(path(bytes_of(profiles_of(rows))))
    assert found.source["file"] == "m.profile.parquet"
    assert len(found.source["sha256"]) == 64
    assert found.source["roles"] == {}
    assert found.source["made_from"] == rows.source
    (again,) = cc.read(bytes_of(found))
    assert again.source["made_from"] == rows.source  # however often it is written


def test_one_that_nobody_named_is_called_like_its_file(path):
    profile = binary().profile("positive").to_reduced()
    where = path(b"", "risk.profile.parquet")
    profile.write(where)
    assert [m.name for m in cc.read(where)] == ["risk"]
    assert [m.name for m in cc.read(where, name="mine")] == ["mine"]
    profile.write(where, name="other")
    assert [m.name for m in cc.read(where)] == ["other"]


def test_of_two_classes_either_probability_gives_the_predicted_class():
    """The positive view alone was kept; the top label of the rows has the same bins."""
    rows = binary()
    (found,) = cc.read(bytes_of(profiles_of(rows, "site", views=["positive"])))
    for m in (10, 15, 100):
        bins = cc.Partition.equal_width(m)
        mine, its = found.profile("top_label").bin(bins), rows.profile("top_label").bin(bins)
        assert mine.count.tolist() == its.count.tolist()
        assert mine.ece == pytest.approx(its.ece, abs=1e-12)
    assert cc.by_group(found, "site").groups[0].n == cc.by_group(rows, "site").groups[0].n


def test_one_class_alone_is_analysed_in_its_view():
    found = model("one class only")
    analysis, rows = cc.analyze(found), several("one")
    assert analysis.view == "class:c1"
    assert analysis.ece == pytest.approx(cc.analyze(rows, cc.Settings(view="class:c1")).ece, abs=1e-12)
    assert "without the view 'positive'; it holds class:c1." in sentence(cc.analyze, found, cc.Settings(view="positive"))


def test_a_class_of_two_alone_has_no_name_for_the_other():
    (found,) = cc.read(bytes_of(profiles_of(binary(), views=["top_label"])))
    assert found.positive_class == "1"
    profile = replace(binary().profile("class:0").to_reduced(), classes=())
    data = io.BytesIO()
    from calibcore.rowless import alone

    data.write(bytes_of(alone(profile, "zero")))
    (zero,) = cc.read(data.getvalue())
    assert zero.positive_class is None
    assert cc.analyze(zero).view == "class:0"


# --- among other files ----------------------------------------------------------------------------------------------------


def test_in_a_list_each_file_keeps_its_place(path):
    profile, table = path(file_of("binary with groups")), path(CSV, "a.csv")
    for files, names in (([table, profile], ["a", "credit"]), ([profile, table], ["credit", "a"])):
        assert [m.name for m in cc.read(files)] == names
    halves = [path(PREDICTIONS, "p.csv"), profile, path(LABELS, "l.csv")]
    found = cc.read(halves)
    assert [m.name for m in found] == ["y_prob", "credit"] or [m.has_rows for m in found] == [True, False]
    assert found[0].source["labels_file"] == "l.csv"


def test_a_mapping_for_a_list_is_not_said_to_the_profile(path):
    files = [path(b"a,b\n1,0.9\n0,0.2\n", "a.csv"), path(file_of("binary with groups"))]
    assert [m.n for m in cc.read(files, mapping=cc.Mapping(label="a", probabilities="b"))] == [2, 3000]


def test_which_files_belong_together():
    profile = file_of("binary with groups")
    assert belonging([("p.csv", PREDICTIONS), ("m.parquet", profile), ("l.csv", LABELS)]) == [(0, 2), (1,)]
    assert belonging([("m.parquet", profile), ("n.parquet", profile)]) == [(0,), (1,)]


def test_packed_with_gzip_or_in_an_archive(path):
    profile = file_of("confidence only")
    (found,) = cc.read(path(gzip.compress(profile), "m.parquet.gz"))
    assert found.n == 2000
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("m.profile.parquet", profile)
        archive.writestr("a.csv", CSV + b"0,0.4\n1,0.8\n" * 40)
    found = cc.read(path(packed.getvalue(), "all.zip"))
    assert [m.has_rows for m in found] == [False, True]
    assert inspect_bytes(packed.getvalue(), "all.zip").models == 2


def test_a_name_that_promises_something_else_is_noted():
    (found,) = read_bytes(file_of("confidence only"), "m.csv")
    assert "The name says csv, the content is Parquet; it was read by its content." in found.notes
    assert read_bytes(file_of("confidence only"), "m.profile.parquet")[0].notes == ()


def test_the_figures_of_a_reading_need_no_rows():
    rows = binary()
    (effect,) = try_bytes(file_of("binary with groups"), "m.parquet").effects
    assert effect.n == 3000
    assert effect.accuracy == pytest.approx(rows.correct.mean(), abs=1e-12)
    assert effect.base_rate == pytest.approx(rows.label.mean(), abs=1e-12)


# --- what a mapping can say -----------------------------------------------------------------------------------------------


def test_columns_cannot_be_named():
    profile = file_of("binary with groups")
    said = sentence(read_bytes, profile, "m.parquet", cc.Mapping(label="y", weight="w"))
    assert said.startswith("m.parquet is a profile, which holds no columns and no rows, so label (--label) and weight (--weight) cannot be")
    layout = inspect_bytes(profile, "m.parquet", cc.Mapping(label="y"))
    assert layout.problem == sentence(read_bytes, profile, "m.parquet", cc.Mapping(label="y"))
    for field in ("scale", "missing"):
        known = {"scale": "percent", "missing": "drop"}[field]
        call = (read_bytes, profile, "m.parquet", cc.Mapping(**{field: known}))
        assert (call[0](*call[1:])[0].n == 3000) if field == "missing" else "scale" in sentence(*call)


def test_labels_are_counted_already(path):
    profile = path(file_of("binary with groups"))
    assert "counts its labels already" in sentence(cc.read, profile, labels=path(LABELS, "l.csv"))
    assert "no labels row by row" in sentence(cc.read, path(PREDICTIONS, "p.csv"), labels=profile)
    assert "counts its labels already" in cc.inspect(profile, labels=path(LABELS, "l.csv")).problem


def test_classes_are_those_it_was_made_with():
    profile = file_of("binary with groups")
    assert read_bytes(profile, "m", cc.Mapping(positive="1", classes=("0", "1")))[0].classes == ("0", "1")
    assert "its positive class is '1'" in sentence(read_bytes, profile, "m", cc.Mapping(positive="0"))
    assert "The classes of m are 0 and 1" in sentence(read_bytes, profile, "m", cc.Mapping(classes=("1", "0")))
    assert "no positive class" in sentence(read_bytes, file_of("five classes"), "m", cc.Mapping(positive="c1"))


def test_groups_are_those_that_it_holds():
    profile = file_of("binary with groups")
    for told, names in ((None, ["site", "age"]), (("age",), ["age"]), ((), []), (("none",), [])):
        assert list(read_bytes(profile, "m", cc.Mapping(groups=told))[0].groups) == names
    said = "The profile m was made without the groups of 'zone'; it holds those of 'site' and 'age'. Other groups need the prediction file."
    assert sentence(read_bytes, profile, "m", cc.Mapping(groups=("site", "zone"))) == said


# --- the numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["top_label", "positive"])
def test_groups_have_the_numbers_of_their_rows(view):
    rows = whole()
    found = model("binary with groups")
    for column in ("site", "age"):
        mine, its = cc.by_group(found, column, view=view), cc.by_group(rows, column, view=view)
        assert [g.name for g in mine.groups] == [g.name for g in its.groups]
        for a, b in zip(mine.groups, its.groups, strict=True):
            assert (a.n, a.judged) == (b.n, b.judged)
            for number in ("accuracy", "mean_confidence", "ece", "n_effective"):
                assert getattr(a, number) == pytest.approx(getattr(b, number), abs=1e-12), number
            assert a.gap.value == pytest.approx(b.gap.value, abs=1e-12)
            assert a.gap.low == pytest.approx(b.gap.low, abs=1e-6)  # the spread within a cell of width 1/4096 is left out


def test_groups_of_classes_and_of_weighted_rows():
    rows = several()
    found = model("five classes")
    for view in ("top_label", "class:c3"):
        for a, b in zip(cc.by_group(found, "ward", view=view).groups, cc.by_group(rows, "ward", view=view).groups, strict=True):
            assert (a.n, a.ece) == (b.n, pytest.approx(b.ece, abs=1e-12))
    weights = np.random.default_rng(4).gamma(2, size=3000)
    weighted = binary("w", sample_weight=weights)
    (found,) = cc.read(bytes_of(profiles_of(weighted, "site")))
    for a, b in zip(cc.by_group(found, "site").groups, cc.by_group(weighted, "site").groups, strict=True):
        assert a.gap.value == pytest.approx(b.gap.value, abs=1e-12)
        assert a.n_effective == pytest.approx(b.n_effective, rel=1e-12)


def test_an_exact_profile_gives_the_numbers_of_the_rows():
    rows, found = binary("whole"), model("float64, exact")
    settings = cc.Settings(strategy="equal_mass", n_bins=11)
    mine, its = cc.analyze(found, settings).to_dict(), cc.analyze(rows, settings).to_dict()
    assert mine["precision"] is None
    assert mine["notes"] == [
        "Not available without the rows: pairing with another model, clusters, the rows behind a bin, errors by predicted class, remedies."
    ]
    for key in ("n", "ece", "mce", "rmsce", "chance", "gap", "bins", "corp", "verdict"):
        assert mine[key] == its[key], key


def test_what_the_numbers_are_worth_is_part_of_the_json():
    found = model("binary with groups")
    wide, mass = (cc.analyze(found, cc.Settings(strategy=s)).to_dict()["precision"] for s in ("equal_width", "equal_mass"))
    assert wide["ece"] == {"kind": "exact", "within": 0.0}
    assert wide["ece.equal_mass"] == mass["ece"]
    assert mass["ece"]["kind"] == "bounded"
    assert cc.analyze(binary()).to_dict()["precision"] is None
    assert cc.analyze(found).precision["remedies"] == Precision("unavailable")


@pytest.mark.parametrize("request_", ["periods", "reconcile", "refinement", "remedies", "adaptive"])
def test_what_needs_rows_says_so(request_):
    found = model("binary with groups")
    assert sentence(cc.analyze, found, cc.Settings(on_request=(request_,))) == NO_ROWS


def test_two_profiles_are_compared_without_pairs():
    a, b = binary("a"), binary("b", seed=7, slope=1.1)
    found = cc.compare([profiles_of(a), profiles_of(b)])
    (d,) = found.differences
    assert not found.paired
    brier = [float(np.mean((m.probabilities[:, 1] - m.label) ** 2)) for m in (a, b)]
    assert d.brier.value == pytest.approx(brier[1] - brier[0], abs=1e-12)
    assert d.brier.low is None
    assert d.gap.low is not None
    assert "cannot be paired" in d.notes[0]


# --- files that are damaged -----------------------------------------------------------------------------------------------


def rewritten(data, change=None, columns=None):
    """The file with another text about it, or other columns."""
    table = pq.read_table(io.BytesIO(data))
    said = json.loads(table.schema.metadata[b"calibcore.profile"])
    if change is not None:
        change(said)
    for name, values in (columns or {}).items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values(table[name].to_numpy(zero_copy_only=False))))
    sink = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({b"calibcore.profile": json.dumps(said).encode()}), sink)
    return sink.getvalue()


def test_a_sound_file_stays_sound():
    data = rewritten(file_of("five classes"))
    assert is_profile(data)
    assert read_profiles(data)[0].n == 2000


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.update(format=2, version="9.9"),
        lambda s: s.update(grid="other cells"),
        lambda s: s.update(grid=["a", {}]),
        lambda s: s.pop("grid"),
    ],
)
def test_a_file_of_another_version(change):
    assert "in a form that" in sentence(read_bytes, rewritten(file_of("five classes"), change), "m.parquet")


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.pop("models"),
        lambda s: s.update(models=[]),
        lambda s: s.update(models=7),
        lambda s: s["models"][0].update(task="regression"),
        lambda s: s["models"][0].update(classes=None),
        lambda s: s["models"][0].update(classes=["c0"]),
        lambda s: s["models"][0].update(name=3),
        lambda s: s["models"][0].update(name="another"),
        lambda s: s["models"][0].update(values="int8"),
        lambda s: s["models"][0].update(source=[1]),
        lambda s: s["models"][0].update(notes=[{}]),
    ],
)
def test_a_file_whose_text_is_wrong(change):
    said = sentence(read_bytes, rewritten(file_of("five classes"), change), "m.parquet")
    assert said.startswith("m.parquet")


def put(value, where=0):
    def values(array):
        array = np.array(array, dtype=np.float64)
        array[where] = value
        return array

    return values


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("cell", lambda a: np.full(len(a), 10**6)),
        ("cell", lambda a: np.full(len(a), -7)),
        ("cell", lambda a: np.where(a == -1, 5, a)),  # no totals
        ("count", lambda a: -a),
        ("count", lambda a: a + 1),
        ("near_0", lambda a: a + 1),  # more than half of the weight
        ("near_0", put(np.inf)),
        ("weight_1", put(-4.0)),
        ("rows", lambda a: a * 2),
        ("cell", lambda a: np.array(["x"] * len(a))),
        ("view", lambda a: np.array([1.5] * len(a))),
    ],
)
def test_a_file_whose_numbers_cannot_be(column, values):
    said = sentence(read_bytes, rewritten(file_of("binary with groups"), columns={column: values}), "m.parquet")
    assert said.startswith("m.parquet")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.99])
def test_a_file_that_ends_too_early(share):
    data = file_of("binary with groups")
    said = sentence(read_bytes, data[: int(share * len(data))], "m.parquet")
    assert "damaged" in said


def test_a_file_whose_middle_is_lost():
    data = bytearray(file_of("binary with groups"))
    data[len(data) // 3 : len(data) // 3 + 4000] = bytes(4000)
    assert "damaged" in sentence(read_bytes, bytes(data), "m.parquet")


def test_a_file_that_another_program_saved():
    """Its cells are there, but not what was said about them."""
    table = pq.read_table(io.BytesIO(file_of("five classes")))
    for metadata in (None, {b"calibcore.profile": b"{"}, {b"calibcore.profile": b"[1]"}):
        sink = io.BytesIO()
        pq.write_table(table.replace_schema_metadata(metadata), sink)
        assert "without what was written about it" in sentence(read_bytes, sink.getvalue(), "m.parquet")


def test_an_empty_profile():
    table = pq.read_table(io.BytesIO(file_of("five classes")))
    sink = io.BytesIO()
    pq.write_table(table.slice(0, 0), sink)
    assert "damaged" in sentence(read_bytes, sink.getvalue(), "m.parquet")


def test_other_parquet_files_are_none(path):
    table = pa.table({"label": [1, 0], "p": [0.9, 0.2]})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    assert not is_profile(sink.getvalue())
    assert not is_profile(path(b"", "empty"))
    assert not is_profile(path(b"", "empty").parent / "absent")
    assert "is no profile file" in sentence(read_profiles, sink.getvalue())


def test_parts_that_were_put_together_are_summed():
    """Two workers wrote their cells; the file holds both, in any order, and is read as their sum."""
    label, p = np.array([1, 0, 1, 0] * 300), np.tile([0.9, 0.9, 0.35, 0.2], 300)
    one, two = (cc.Predictions.from_arrays(label[s], p[s], name="m") for s in (slice(0, 700), slice(700, None)))
    parts = [pq.read_table(io.BytesIO(bytes_of(profiles_of(m)))) for m in (two, one)]
    sink = io.BytesIO()
    pq.write_table(pa.concat_tables([t.replace_schema_metadata(parts[0].schema.metadata) for t in parts]), sink)
    (found,) = cc.read(sink.getvalue())
    whole = cc.Predictions.from_arrays(label, p, name="m")
    assert found.n == 1200
    assert found.profile("positive").bin(cc.Partition.equal_width(15)).ece == pytest.approx(
        whole.profile("positive").bin(cc.Partition.equal_width(15)).ece, abs=1e-12
    )


def test_written_by_path(tmp_path):
    write_profiles([binary("a"), profiles_of(several("b"))], tmp_path / "m.parquet")
    assert [m.name for m in cc.read(tmp_path / "m.parquet")] == ["a", "b"]
