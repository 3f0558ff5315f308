"""Any source of rows to reduced profiles: the same as reading all of the rows and reducing their profiles."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

import calibcore as cc
from calibcore.io import big_text, sources
from calibcore.io.batch_notes import counted_on, joined_notes

N = 3000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Batches and samples of a few rows, so that each source passes in many."""
    for name, rows in (("BATCH", 256), ("PIECE", 16), ("_FIRST_ROWS", 256)):
        monkeypatch.setattr(sources, name, rows)
    monkeypatch.setattr("calibcore.io.file_sources.BATCH", 256)
    monkeypatch.setattr("calibcore.io.file_sources.PIECE", 16)
    monkeypatch.setattr("calibcore.io.text_batches._BLOCK", 4000)
    monkeypatch.setattr("calibcore.io.text_batches._PIECE", 200)
    monkeypatch.setattr(big_text, "_BIG", 0)
    monkeypatch.setattr(big_text, "_SAMPLE", 4000)


def binary(n=N, seed=1, dtype=np.float64):
    """A label of 0 and 1 beside a probability with values on edges and between them."""
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(n) < 0.3, rng.integers(0, 101, n) / 100, rng.random(n)).astype(dtype)
    return {"label": (rng.random(n) < p).astype(np.int8), "probability": p}


def classes(k, n=N, seed=2):
    """A label of k names beside a probability of each."""
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(k, 0.5), n)
    names = [f"c{i:02d}" for i in range(k)]
    label = [names[i] for i in np.minimum((matrix.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1), k - 1)]
    return {"label": label, **{name: matrix[:, i] for i, name in enumerate(names)}}


def same(one, other):
    """Profiles of the same cells: counts equal, sums to 1e-12."""
    a, b = one.to_reduced(), other.to_reduced()
    assert a.inside.cell.tolist() == b.inside.cell.tolist()
    assert a.count.tolist() == b.count.tolist()
    for name in ("weight", "weight_squared", "near", "near_squared", "heavy_near", "heavy_near_squared"):
        np.testing.assert_allclose(getattr(a.inside, name), getattr(b.inside, name), rtol=1e-12, atol=1e-14)  # events are taken from all
    for name in ("rows", "tied", "clipped"):
        assert getattr(a.totals, name) == getattr(b.totals, name)
    for name in ("brier", "log_loss"):
        assert getattr(a.totals, name) == pytest.approx(getattr(b.totals, name), rel=1e-12, abs=a.n * 2**-50)


def expected(model, view):
    """The profile of a view that rows give; of one column, the top label is the positive class mirrored at 1/2."""
    one = model.task == "binary" and len(model.source["roles"].get("probabilities", "12")) == 1
    return model.profile("positive").to_reduced().folded() if one and view == "top_label" else model.profile(view)


def same_model(one, other):
    """A model from batches and the same model with its rows."""
    assert (one.name, one.task, one.classes, one.n, one.n_excluded) == (other.name, other.task, other.classes, other.n, other.n_excluded)
    assert one.label_counts.tolist() == other.label_counts.tolist()
    for view in one.views:
        if not (view.startswith("class:") and "positive" in one.views):
            same(one.profile(view), expected(other, view))


def saved(folder, columns, kind, name="rows"):
    """A file of each kind with several parts in it."""
    table, path = pa.table(columns), folder / f"{name}.{kind}"
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=500)
    elif kind == "csv":
        pc.write_csv(table, path)
    elif kind == "tsv":
        pc.write_csv(table, path, pc.WriteOptions(delimiter="\t"))
    elif kind == "feather":
        pf.write_feather(table, path, chunksize=700)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table, max_chunksize=700)
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "feather", "arrows"])
@pytest.mark.parametrize("columns", [binary(), classes(3), classes(30, 600)], ids=["binary", "three", "thirty"])
def test_a_file_in_batches_is_the_file_read_whole(tmp_path, kind, columns):
    path = saved(tmp_path, columns, kind)
    (found,), (whole,) = cc.reduce_models(path), cc.read(path)
    same_model(found, whole)
    assert not found.has_rows


@pytest.mark.parametrize("shape", ["pandas", "table", "reader", "batch", "polars", "duckdb"])
def test_frames_and_streams(shape):
    columns = binary()
    table = pa.table(columns)
    if shape == "pandas":
        frame = table.to_pandas()
    elif shape == "polars":
        frame = pytest.importorskip("polars").DataFrame(columns)
    elif shape == "duckdb":
        frame = pytest.importorskip("duckdb").from_arrow(table)
    else:
        frame = {"table": table, "reader": table.to_reader(200), "batch": table.combine_chunks().to_batches()[0]}[shape]
    (found,) = cc.reduce_models(frame)
    same_model(found, cc.read(table)[0])


def test_one_view_is_a_profile():
    table = pa.table(binary())
    same(cc.reduce(table), cc.read(table)[0].profile("positive").to_reduced().folded())
    same(cc.reduce(table, view="positive"), cc.read(table)[0].profile("positive"))
    same(cc.reduce(table, view="class:0"), cc.read(table)[0].profile("class:0"))


def test_arrays():
    c = binary()
    same(cc.reduce((c["label"], c["probability"]), view="positive"), cc.Predictions.from_arrays(**renamed(c)).profile("positive"))


def renamed(c):
    return {"y_true": c["label"], "y_prob": c["probability"]}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_values_meet_the_cells_in_their_own_precision(tmp_path, dtype):
    path = saved(tmp_path, binary(dtype=dtype), "parquet")
    (found,), (whole,) = cc.reduce_models(path), cc.read(path)
    if dtype == np.float16:  # few values: each is a cell of its own, and the profile is exact
        for view in ("top_label", "positive"):
            a, b = found.profile(view), whole.profile(view)
            assert not a.reduced
            assert (a.value.tolist(), a.count.tolist(), a.positive.tolist()) == (b.value.tolist(), b.count.tolist(), b.positive.tolist())
    else:
        same_model(found, whole)


def test_the_error_in_bins_is_that_of_the_rows():
    table = pa.table(binary())
    found, whole = cc.reduce(table, view="positive"), cc.read(table)[0].profile("positive")
    for bins in (7, 10, 15, 100):
        for closed in ("right", "left"):
            edges = cc.Partition.equal_width(bins, closed=closed)
            assert found.bin(edges).ece == pytest.approx(whole.bin(edges).ece, rel=1e-12)


def test_weights_and_groups(tmp_path):
    rng = np.random.default_rng(4)
    site = [["north", "south", None][i] for i in rng.integers(0, 3, N)]
    columns = {**binary(), "w": np.where(rng.random(N) < 0.1, 0.0, rng.random(N)), "site": site}
    path, mapping = saved(tmp_path, columns, "parquet"), cc.Mapping(weight="w", groups=("site",))
    (found,), (whole,) = cc.reduce_models(path, mapping=mapping), cc.read(path, mapping=mapping)
    same_model(found, whole)
    parts = dict(found.held.parts["site"])
    assert list(parts) == ["north", "south", "(missing)"]
    for name, part in parts.items():
        wanted = "" if name == "(missing)" else name
        same_model(part.but(name="rows"), whole.take(np.flatnonzero(whole.groups["site"] == wanted)).but(n_excluded=0))
    zero = int((columns["w"] == 0).sum())
    assert found.notes == (f"{zero} rows of weight 0 left out.",)


def test_a_weight_that_is_lost_beside_a_far_one_is_refused(tmp_path):
    """The smallest and the largest weight may lie in different batches."""
    for end, refused in ((1.0, True), (1e-2, False)):
        columns = {**binary(), "w": np.linspace(1e-2, end, N)}
        columns["w"][[0, 5, 7]] = [0.0, 5e-13, 0.0]
        path = saved(tmp_path, columns, "parquet")
        for taken in (cc.read, cc.reduce_models):
            if refused:
                with pytest.raises(cc.InputError, match=r"The weight in row 6 is less than 1e-12 of the largest") as error:
                    taken(path, mapping=cc.Mapping(weight="w"))
                assert (error.value.row, error.value.value) == (6, 5e-13)
            else:
                assert taken(path, mapping=cc.Mapping(weight="w"))[0].n == N - 2


def test_small_weights_beside_a_row_that_is_left_out():
    """Rows that are left out do not count as the heaviest."""
    columns = {**binary(), "w": np.full(N, 1e-20)}
    table = pa.table({**columns, "label": pa.array([None, *columns["label"][1:].tolist()])})
    for taken in (cc.read, cc.reduce_models):
        assert taken(table, mapping=cc.Mapping(weight="w", missing="drop"))[0].n == N - 1


def test_rows_without_weight_may_fill_a_batch():
    columns = {**binary(), "w": np.repeat([0.0, 1.0], N // 2)}
    (found,) = cc.reduce_models(pa.table(columns), mapping=cc.Mapping(weight="w"))
    same_model(found, cc.read(pa.table(columns), mapping=cc.Mapping(weight="w"))[0])


def test_rows_that_are_not_judged_may_fill_a_batch():
    table = pa.table({**binary(), "split": ["train"] * (N // 2) + ["test"] * (N // 2)})
    mapping = cc.Mapping(rows="split=test")
    (found,), (whole,) = cc.reduce_models(table, mapping=mapping), cc.read(table, mapping=mapping)
    same_model(found, whole)
    assert [n for n in found.notes if "left out" in n] == [n for n in whole.notes if "left out" in n]


def test_more_groups_than_are_kept():
    with pytest.raises(cc.InputError, match="more than 50 different values"):
        cc.reduce_models(pa.table({**binary(), "site": [f"s{i % 51}" for i in range(N)]}), mapping=cc.Mapping(groups=("site",)))


def test_many_views_and_groups_are_summed_as_few(monkeypatch):
    table, mapping = pa.table({**classes(3), "site": ["a", "b"] * (N // 2)}), cc.Mapping(groups=("site",))
    (dense,) = cc.reduce_models(table, mapping=mapping)
    monkeypatch.setattr("calibcore.io.row_sums._MANY", 0)
    (sparse,) = cc.reduce_models(table, mapping=mapping)
    for view in dense.views:
        same(dense.profile(view), sparse.profile(view))
        for (_, one), (_, other) in zip(dense.held.parts["site"], sparse.held.parts["site"], strict=True):
            same(one.profile(view), other.profile(view))


def test_models_named_by_a_column():
    columns = {k: np.concatenate([binary(seed=1)[k], binary(seed=2)[k]]) for k in ("label", "probability")}
    table = pa.table({**columns, "model": ["one"] * N + ["two"] * N})
    found, whole = cc.reduce_models(table, mapping=cc.Mapping(model="model")), cc.read(table, mapping=cc.Mapping(model="model"))
    assert [m.name for m in found] == ["one", "two"]
    for a, b in zip(found, whole, strict=True):
        same_model(a, b)
    with pytest.raises(cc.InputError, match=r"holds 2 models \(one and two\)"):
        cc.reduce(table, mapping=cc.Mapping(model="model"))


def test_percent_and_names_of_classes():
    c = binary()
    table = pa.table({"outcome": np.where(c["label"] == 1, "yes", "no"), "probability": np.round(100 * c["probability"], 2)})
    mapping = cc.Mapping(scale="percent", positive="yes")
    (found,), (whole,) = cc.reduce_models(table, mapping=mapping), cc.read(table, mapping=mapping)
    same_model(found, whole)
    assert found.notes == ("The probabilities are percent and were divided by 100.",)


def test_confidence_and_correct():
    rng = np.random.default_rng(5)
    confidence = rng.random(N)
    for flags in (rng.random(N) < confidence, (rng.random(N) < confidence).astype(int)):
        table = pa.table({"confidence": confidence, "correct": flags})
        same_model(cc.reduce_models(table)[0], cc.read(table)[0])


def test_confidences_of_two_classes_that_fall_below_a_half_late():
    # While all confidences are at least 1/2, they give both probabilities; one below shows that they do not.
    rng = np.random.default_rng(6)
    label = np.where(rng.random(N) < 0.5, "yes", "no")
    columns = {"label": label, "predicted": np.where(rng.random(N) < 0.8, label, "no"), "confidence": rng.uniform(0.51, 1, N)}
    (found,), (whole,) = (f(pa.table(columns)) for f in (cc.reduce_models, cc.read))
    assert found.task == whole.task == "binary"
    same_model(found, whole)
    columns["confidence"][-1] = 0.25
    (found,), (whole,) = (f(pa.table(columns)) for f in (cc.reduce_models, cc.read))
    assert found.task == whole.task == "top_label"
    same_model(found, whole)
    assert found.notes == whole.notes


def test_many_row_groups_and_folders_that_name_a_column(tmp_path):
    table = pa.table({**binary(), "model": ["one"] * (N // 2) + ["two"] * (N // 2)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=50)
    every = cc.Mapping(model=())
    same_model(*(f(tmp_path / "rows.parquet", mapping=every)[0] for f in (cc.reduce_models, cc.read)))
    pq.write_to_dataset(table, tmp_path / "all", partition_cols=["model"])
    for one, whole in zip(cc.reduce_models(tmp_path / "all"), cc.read(table), strict=True):
        same_model(one, whole)


@pytest.mark.parametrize("kind", ["parquet", "csv", "feather"])
@pytest.mark.parametrize("columns", [binary(), classes(3)], ids=["binary", "three"])
def test_rows_sorted_by_label(tmp_path, kind, columns):
    order = np.argsort(columns["label"], kind="stable")
    columns = {k: np.asarray(v)[order] for k, v in columns.items()}
    path = saved(tmp_path, columns, kind)
    same_model(cc.reduce_models(path)[0], cc.read(path)[0])


def test_a_class_that_occurs_once_is_found(tmp_path):
    rng = np.random.default_rng(7)
    said = np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, N)]
    label = np.where(rng.random(N) < 0.7, said, "b")
    label[N - 100] = "seldom"
    columns = {"label": label.astype(str), "predicted": said.astype(str), "confidence": rng.random(N)}
    path = saved(tmp_path, columns, "parquet")
    (found,), (whole,) = cc.reduce_models(path), cc.read(path)
    assert found.classes == ("a", "b", "c", "seldom")
    same_model(found, whole)
    reader = pa.table(columns).to_reader(200)
    told = r"label 'seldom' \(row 2,901 of column 'label'\) does not occur in the first 256 rows, .* with classes \(--classes\)"
    with pytest.raises(cc.InputError, match=told) as error:
        cc.reduce_models(reader)
    assert error.value.row == 2901
    same_model(cc.reduce_models(pa.table(columns).to_reader(200), mapping=cc.Mapping(classes=whole.classes))[0].but(name="rows"), whole)


def test_a_label_of_one_value_in_the_sample(tmp_path):
    columns = binary()
    columns["label"][:] = 0
    columns["label"][N - 7] = 1
    for kind in ("parquet", "csv", "feather"):
        path = saved(tmp_path, columns, kind)
        same_model(cc.reduce_models(path)[0], cc.read(path)[0])


def test_missing_values_are_asked_about_or_left_out(tmp_path):
    c = binary()
    table = pa.table({**c, "label": pa.array([None if i in (7, 1500, 1501) else int(y) for i, y in enumerate(c["label"])])})
    # Batches of 256 rows: the first holds row 8, the sixth rows 1,501 and 1,502.
    for source in (table, table.to_reader(200)):
        told = r"^data frame: 3 of 3,000 rows have no label in 'label' \(row 8 is the first\)"
        with pytest.raises(cc.AmbiguousLayout, match=told) as asked:
            cc.reduce_models(source)
        assert [(q.id, q.options) for q in asked.value.questions] == [("missing", ("drop",))]
    with pytest.raises(cc.AmbiguousLayout, match=r": 2 of 2,992 rows have no label in 'label' \(row 1,493 is the first\)"):
        cc.reduce_models(table.slice(8))
    two = pa.table({**dict(zip(table.column_names, table.columns, strict=True)), "model": ["one", "two"] * (N // 2)})
    for taken in (cc.read, cc.reduce_models):  # rows 8 and 1,502 are of the second model
        with pytest.raises(cc.AmbiguousLayout, match=r": 1 of 1,500 rows have no label in 'label' \(row 1,501\)"):
            taken(two, mapping=cc.Mapping(model="model"))
    (found,), (whole,) = (f(table, mapping=cc.Mapping(missing="drop")) for f in (cc.reduce_models, cc.read))
    same_model(found, whole)
    assert found.notes == whole.notes == ("3 of 3,000 rows left out: 3 without a label in 'label'.",)


def test_counts_in_notes_are_those_of_all_rows():
    c = binary()
    c["probability"][[3, 300, 301]] = [-1e-12, 1 + 1e-12, 1 + 1e-12]
    (found,), (whole,) = (f(pa.table(c)) for f in (cc.reduce_models, cc.read))
    assert found.notes == whole.notes == ("3 values a hair outside [0, 1] (rounding noise) were set to the nearest end.",)
    same_model(found, whole)


def test_a_value_that_is_no_probability_is_named_by_its_row(tmp_path):
    c = binary()
    c["probability"][2345] = 1.5
    path = saved(tmp_path, c, "parquet")
    with pytest.raises(cc.InputError, match=r"In rows .* of rows.parquet: Row 2,346: values of column 'probability' outside") as error:
        cc.reduce_models(path, mapping=cc.Mapping(scale="fraction"))
    assert (error.value.row, error.value.value) == (2346, 1.5)


def test_several_files(tmp_path):
    columns = binary()
    for kind in ("parquet", "csv", "feather"):
        folder = tmp_path / kind
        folder.mkdir()
        paths = [saved(folder, {k: v[i * 1000 : (i + 1) * 1000] for k, v in columns.items()}, kind, f"part-{i}") for i in range(3)]
        (folder / "_SUCCESS").touch()
        whole = cc.read(pa.table(columns))[0]
        for source, name in ((paths, kind), (folder, kind), (str(folder / "part-*"), kind)):
            (found,) = cc.reduce_models(source)
            same_model(found, whole.but(name=name))
        (called,) = cc.reduce_models(folder, name="mine")
        assert called.name == "mine"


def test_several_files_that_are_read_whole(tmp_path):
    columns = binary(900)
    paths = []
    for i in range(3):
        rows = zip(columns["label"][i::3], columns["probability"][i::3], strict=True)
        text = "label;probability\n" + "".join(f"{y};{str(float(p)).replace('.', ',')}\n" for y, p in rows)
        paths.append(tmp_path / f"part-{i}.csv")
        paths[-1].write_text(text)
    (found,) = cc.reduce_models(paths)
    same(found.profile("positive"), cc.read(pa.table(columns))[0].profile("positive"))
    (one,) = cc.reduce_models(paths[0])
    same_model(one, cc.read(paths[0])[0])


def test_files_with_other_columns_are_named(tmp_path):
    c = binary(100)
    one = saved(tmp_path, c, "parquet", "one")
    two = saved(tmp_path, {"label": c["label"], "score": c["probability"]}, "parquet", "two")
    with pytest.raises(cc.InputError, match=r"two\.parquet has other columns than one\.parquet: it lacks probability and has also score"):
        cc.reduce_models([one, two])
    three = saved(tmp_path, binary(100, dtype=np.float32), "parquet", "three")
    with pytest.raises(cc.InputError, match=r"'probability' holds float in three\.parquet and double in one\.parquet"):
        cc.reduce_models([one, three])
    texts = [saved(tmp_path, c, "csv", "four"), saved(tmp_path, {"label": c["label"], "score": c["probability"]}, "csv", "five")]
    with pytest.raises(cc.InputError, match=r"five\.csv has other columns than four\.csv"):
        cc.reduce_models(texts)


def test_a_cell_that_is_no_number_far_down_a_text(tmp_path):
    path = saved(tmp_path, binary(), "csv")
    lines = path.read_text().split("\n")
    lines[2000] = "1,"
    path.write_text("\n".join(lines))
    with pytest.raises(cc.AmbiguousLayout, match=r"rows have no value in 'probability' \(row 2,000\)"):
        cc.reduce_models(path)
    (found,), (whole,) = (f(path, mapping=cc.Mapping(missing="drop")) for f in (cc.reduce_models, cc.read))
    same_model(found, whole)
    lines[2000] = "1,0.5,7"
    path.write_text("\n".join(lines))
    with pytest.raises(cc.InputError, match=r"^rows\.csv: Row 2,000 has 3 cells, but the header has 2"):
        cc.reduce_models(path)


def test_formats_that_are_read_whole(tmp_path):
    c = binary(200)
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f'{{"label": {y}, "probability": {p}}}\n' for y, p in zip(c["label"], c["probability"], strict=True)))
    same_model(cc.reduce_models(path)[0], cc.read(path)[0])
    same_model(cc.reduce_models(path.read_bytes())[0].but(name="rows"), cc.read(path)[0])


def test_a_long_form_is_read_whole(tmp_path):
    c = classes(3, 400)
    names = [n for n in c if n != "label"]
    rows = [(i, n, c["label"][i], c[n][i]) for i in range(400) for n in names]
    case, name, label, p = zip(*rows, strict=True)
    path = saved(tmp_path, {"case": case, "class": name, "label": label, "probability": p}, "parquet")
    (whole,) = cc.read(path)
    same_model(cc.reduce_models(path)[0], whole)
    with pytest.raises(cc.InputError, match="Several rows make one case"):
        cc.reduce_models(pq.read_table(path).to_reader(100))


def test_vectors_in_a_cell(tmp_path):
    c = classes(3)
    vectors = np.column_stack([c[n] for n in c if n != "label"]).tolist()
    label = [list(c)[1:].index(x) for x in c["label"]]
    table = pa.table({"label": label, "probabilities": vectors})
    same_model(cc.reduce_models(table)[0], cc.read(table)[0])


@pytest.mark.parametrize(
    ("source", "about", "told"),
    [
        ("nothing.parquet", {}, "There is no file nothing.parquet"),
        ([], {}, "No file was given"),
        (3, {}, "A int cannot be reduced. Give a path"),
        (pa.table(binary(20)), {"mapping": cc.Mapping(pair="row-order")}, "join a separate file of labels first"),
        (pa.table({**binary(20), "who": range(20)}), {"mapping": cc.Mapping(cluster="who")}, "does not know which rows go together"),
        (pa.table(binary(20)), {"engine": "flink"}, "engine must be one of arrow, spark and dask; got 'flink'"),
        (pa.table(binary(20)), {"engine": "spark"}, "The engine 'spark' reads files"),
        (pa.table(binary(20)), {"views": ("class:7",)}, "has no view 'class:7'; it has 'top_label', 'positive', 'class:0' and 'class:1'"),
        (pa.table(binary(20)).slice(0, 0), {}, "has no rows"),
        (pa.table({"label": [0, 1], "x": ["u", "v"]}), {}, "data frame"),
    ],
)
def test_what_cannot_be_reduced_is_a_sentence(source, about, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(cc.InputError, match=told):
        cc.reduce_models(source, **about)


def test_questions_carry_the_name_of_the_source(tmp_path):
    c = binary(100)
    path = saved(tmp_path, {"label": c["label"], "score_a": c["probability"], "score_b": c["probability"][::-1]}, "parquet")
    asked = {}
    for read in (cc.read, cc.reduce_models):
        with pytest.raises(cc.AmbiguousLayout) as error:
            read(path)
        asked[read] = (error.value.questions, error.value.source)
    assert asked[cc.read] == asked[cc.reduce_models]


def test_a_frame_without_rows_yet_is_told_how_to_get_them():
    lazy = type("LazyFrame", (), {"__module__": "polars.lazyframe.frame", "collect": lambda _: pa.table(binary(20))})()
    for taken in (cc.read, cc.inspect, cc.reduce, lambda labels: cc.read(pa.table(binary(20)), labels=labels)):
        with pytest.raises(cc.InputError, match=r"^A LazyFrame holds no rows yet\. Give its rows, frame\.collect\(\)"):
            taken(lazy)
    elsewhere = type("DataFrame", (), {"__module__": "dask.dataframe.dask_expr._collection", "iloc": None, "columns": ["label", "p"]})()
    with pytest.raises(cc.InputError, match=r"of Dask cannot be read\. Give its profile, calibcore\.reduce\(frame\)"):
        cc.read(elsewhere)


def test_a_damaged_file_is_named(tmp_path):
    for kind in ("parquet", "feather"):
        path = saved(tmp_path, binary(), kind)
        path.write_bytes(path.read_bytes()[:-400])
        with pytest.raises(cc.InputError, match=rf"rows.{kind}.* is damaged or incomplete"):
            cc.reduce_models([path])


def test_progress_is_told(tmp_path):
    for kind in ("parquet", "csv", "feather"):
        told = []
        cc.reduce_models(saved(tmp_path, binary(), kind), progress=told.append)
        assert told == sorted(told)
        assert told[-1] == pytest.approx(1.0)
        assert len(told) > 2


def test_written_and_read_again(tmp_path):
    models = cc.reduce_models(pa.table({**binary(), "site": ["a", "b"] * (N // 2)}), mapping=cc.Mapping(groups=("site",)), name="m")
    cc.write_profiles(models, tmp_path / "m.parquet")
    same(cc.Profile.read(tmp_path / "m.parquet", "positive"), models[0].profile("positive"))
    with pytest.raises(cc.InputError, match="is a profile file already"):
        cc.reduce(tmp_path / "m.parquet")


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("Row 3 of column 'p' is 'x', not a number.", "Row 1,003 of column 'p' is 'x', not a number."),
        ("Rows 1, 4 and 7: values outside [0, 1] (2, 3, 4).", "Rows 1,001, 1,004 and 1,007: values outside [0, 1] (2, 3, 4)."),
        ("Rows 1, 4, 7 and 20 more: bad.", "Rows 1,001, 1,004, 1,007 and 20 more: bad."),
        (
            "2 of 700 rows have no label in 'row 5' (row 9 is the first).",
            "2 of 700 rows have no label in 'row 5' (row 1,009 is the first).",
        ),
        ("Label 'x' (row 1,500 of column 'y') is", "Label 'x' (row 2,500 of column 'y') is"),
    ],
)
def test_rows_are_counted_from_the_first_of_all(text, moved):
    assert counted_on(text, 1000) == moved
    assert counted_on(text, 0).replace("1500", "1,500") == text


def test_notes_of_batches_join():
    out = "1 of 5 rows left out: 1 without a label in 'y'."
    both = "3 of 5 rows left out: 1 without a label in 'y' and 2 with a label that is left out."
    uneven = ["1 row does not add up to exactly 1 (largest difference 0.002); used as written."]
    uneven += ["4 rows do not add up to exactly 1 (largest difference 1e-05); used as written."]
    assert joined_notes([("A.", out), ("A.", both, uneven[0]), ("A.", uneven[1])], 15) == (
        "A.",
        "4 of 15 rows left out: 2 without a label in 'y' and 2 with a label that is left out.",
        "5 rows do not add up to exactly 1 (largest difference 0.002); used as written.",
    )
    assert joined_notes([("1 row of weight 0 left out.",), ("2 rows of weight 0 left out.",)], 9) == ("3 rows of weight 0 left out.",)


@pytest.mark.parametrize("kind", ["parquet", "csv", "table"])
def test_a_slip_among_fractions_does_not_make_them_percent(tmp_path, kind):
    """One value above 1 among many: a question that names its row, whether rows are read or reduced; and never a division by 100."""
    rng = np.random.default_rng(3)
    columns = {"label": np.arange(200) % 2, "probability": rng.integers(1, 500, 200) / 1000}
    columns["probability"][120] = 45
    source = pa.table(columns) if kind == "table" else saved(tmp_path, columns, kind)
    for taken in (cc.read, cc.reduce_models):
        told = r"'probability' holds 199 values from 0 to 1 and 1 above \(45 in row 121\)\. Are all of them percent\? If not, mend"
        with pytest.raises(cc.AmbiguousLayout, match=told) as asked:
            taken(source)
        assert [(q.id, q.options) for q in asked.value.questions] == [("scale", ("percent",))]
        (model,) = taken(source, mapping=cc.Mapping(scale="percent"))
        assert model.profile("positive").value.max() == pytest.approx(0.45)
        with pytest.raises(cc.InputError, match=r"Row 121: values of column 'probability' outside \[0, 1\] \(45\)"):
            taken(source, mapping=cc.Mapping(scale="fraction"))


@pytest.mark.parametrize(("above", "asked"), [(19, True), (20, True), (21, False)])
def test_percent_is_asked_about_where_nine_of_ten_values_could_be_fractions(above, asked):
    values = np.where(np.arange(200) < above, 30.0, 0.5)
    table = pa.table({"label": np.arange(200) % 2, "probability": values})
    signed = pa.table({"label": np.arange(200) % 2, "probability": [f"{v}%" for v in values]})
    named = table.rename_columns(["label", "prob_percent"])
    for source, doubt in ((table, asked), (signed, False), (named, False)):
        for taken in (cc.read, cc.reduce_models):
            if doubt:
                with pytest.raises(cc.AmbiguousLayout, match=rf"holds {200 - above} values from 0 to 1 and {above} above \(30 in row 1 is"):
                    taken(source)
            else:
                np.testing.assert_allclose(taken(source)[0].profile("positive").value, [0.005, 0.3], rtol=1e-15)


def test_fractions_among_percent_are_asked_about(tmp_path):
    """One file of fractions, one of percent: neither is rescaled without a word."""
    rng = np.random.default_rng(2)
    p = rng.random(2000)
    label = (rng.random(2000) < p).astype(int)
    for name, factor in (("a", 1.0), ("b", 100.0)):
        rows = "".join(f"{y},{factor * q:.4f}\n" for y, q in zip(label, p, strict=True))
        (tmp_path / f"{name}.csv").write_text("label,p\n" + rows, encoding="utf-8")
    with pytest.raises(cc.AmbiguousLayout, match="others are percent") as caught:
        cc.reduce(tmp_path)
    assert caught.value.questions[0].id == "scale"
    assert cc.reduce(tmp_path / "b.csv").n == 2000
    assert cc.reduce(tmp_path, mapping=cc.Mapping(scale="percent")).n == 4000
