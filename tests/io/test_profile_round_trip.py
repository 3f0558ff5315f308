"""A profile that is written and read is the same profile, whatever its view, task, precision and weights."""

import numpy as np
import pytest

import calibcore as cc

N = 3000
FIELDS = ("value", "count", "weight", "positive", "weight_squared", "positive_squared")


def models():
    rng = np.random.default_rng(4)
    p, matrix = rng.random(N), rng.dirichlet(np.ones(3), N)
    event = (rng.random(N) < p).astype(int)
    return {
        "binary": cc.Predictions.from_arrays(event, p),
        "float32": cc.Predictions.from_arrays(event, p.astype(np.float32)),
        "float16": cc.Predictions.from_arrays(event, p.astype(np.float16)),
        "weighted": cc.Predictions.from_arrays(event, p, sample_weight=rng.choice([0.5, 1.0, 4.0], N)),
        "three classes": cc.Predictions.from_arrays(rng.integers(0, 3, N), matrix),
        "confidences": cc.Predictions.from_top_label(p, event),
    }


@pytest.mark.parametrize("reduce", [False, True], ids=["exact", "reduced"])
@pytest.mark.parametrize("kind", list(models()))
def test_what_is_read_is_what_was_written(kind, reduce, tmp_path):
    model, path = models()[kind], tmp_path / "a.profile.parquet"
    for view in model.views:
        written = model.profile(view).to_reduced() if reduce else model.profile(view)
        written.write(path)
        read = cc.Profile.read(path)
        assert (read.view, read.task, read.n_classes, read.reduced, read.totals) == (
            written.view,
            written.task,
            written.n_classes,
            written.reduced,
            written.totals,
        )
        assert read.value.dtype == written.value.dtype
        for name in FIELDS:
            np.testing.assert_allclose(getattr(read, name), getattr(written, name), rtol=1e-12, err_msg=name)
        for m in (7, 15):
            assert np.array_equal(read.bin(cc.Partition.equal_width(m)).count, written.bin(cc.Partition.equal_width(m)).count)
        assert (read + written).n == 2 * N


def test_a_file_is_small(tmp_path):
    """A million rows of random probabilities fill some 8,000 cells: some hundred kilobytes."""
    rng = np.random.default_rng(1)
    p = rng.random(10**6)
    path = tmp_path / "a.profile.parquet"
    cc.reduce((rng.random(10**6) < p, p)).write(path)
    assert 50_000 < path.stat().st_size < 500_000


def test_views_of_a_file_are_read_by_name(tmp_path):
    model, path = models()["binary"], tmp_path / "a.profile.parquet"
    cc.write_profiles([model], path)
    for view in model.views:
        assert cc.Profile.read(path, view).view == view
    with pytest.raises(cc.InputError, match="made without the view"):
        cc.Profile.read(path, "class:7")


def test_what_is_no_profile_file_says_so(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,p\n1,0.5\n", encoding="utf-8")
    with pytest.raises(cc.InputError, match=r"rows\.csv is no profile file"):
        cc.Profile.read(path)
