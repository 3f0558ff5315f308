"""The command that prints the table: turns, wrong answers, targets, memory, Markdown."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path

import contest
import numpy as np
import peers
import pytest
import sums
import table
from contest import OURS, Contestant, Result, Task, in_memory


@pytest.fixture(autouse=True)
def without_the_collector(monkeypatch):
    """Before each turn it takes longer than what these tests run, and they measure nothing."""
    monkeypatch.setattr(contest.gc, "collect", int)


def task(*, targets=(), contestants=None, **more):
    return Task("A task", 10, 10, "yardstick", contestants, targets, **more)


def given(racers):
    return task(contestants=in_memory(lambda _: racers))


def result(targets=(), **times):
    """With seconds of each contestant."""
    return Result(task(targets=targets), 10, {OURS if name == "ours" else name: t for name, t in times.items()})


def fine(_):
    """Any answer will do."""


def wrong(_):
    raise AssertionError("3 for 4")


def test_contestants_take_turns_and_the_order_is_reversed():
    ran = []
    one, two, three = names = ("yardstick", OURS, "peer")

    def racer(name):
        def run():
            ran.append(name)
            time.sleep(contest.SHORTEST)  # long enough for one call a turn

        return Contestant(name, run, fine)

    found = contest.race(given([racer(name) for name in names]), 10, rounds=3)
    assert ran == [one, one, two, two, three, three, one, two, three, three, two, one, one, two, three]  # two calls each to be admitted
    assert {name: len(t) for name, t in found.times.items()} == dict.fromkeys(names, 3)


def test_a_wrong_answer_is_a_failure_and_the_others_run_on():
    racers = [Contestant("yardstick", int, fine), Contestant(OURS, int, fine), Contestant("peer", int, wrong)]
    found = contest.race(given(racers), 10, rounds=2)
    assert found.failures == {"peer": "AssertionError: 3 for 4"}
    assert found.peers() == []
    assert "- A task: peer failed: AssertionError: 3 for 4" in table.markdown([found])


def test_what_cannot_be_run_makes_nothing():
    @contextmanager
    def never(n):
        raise AssertionError
        yield

    found = contest.race(task(contestants=never, missing=lambda: "no Java", targets=(contest.milliseconds(1),)), 10, rounds=1)
    assert table.row(found)[2] == "not available: no Java"
    assert table.row(found)[-1] == "< 1 ms: not available"


def test_a_process_of_its_own_brings_its_own_clock():
    racers = [Contestant(name, lambda: contest.Fresh(0.5, 20.0, 7), fine) for name in ("yardstick", OURS)]
    found = contest.race(given(racers), 10, rounds=2)
    assert found.times[OURS] == [0.5, 0.5]
    assert found.memory[OURS] == 20.0


@pytest.mark.parametrize(
    ("target", "ours", "met"),
    [
        (contest.times_floor(3), [3.0, 3.0], "yes"),
        (contest.times_floor(3), [3.0, 4.0], "by the fastest calls"),
        (contest.times_floor(3), [4.0, 4.0], "no"),
        (contest.milliseconds(2000), [2.0, 2.0], "yes"),
        (contest.milliseconds(1999), [2.0, 2.0], "no"),
        (contest.times_faster(2), [2.0, 2.0], "yes"),  # the faster peer takes 4 s, the slower 6
        (contest.times_faster(2.5), [2.0, 2.0], "no"),
        (contest.megabytes(5), [1.0], "yes"),
        (contest.megabytes(4), [1.0], "no"),
        (contest.correct("equal"), [1.0], "yes"),
    ],
    ids=lambda x: x.text if isinstance(x, contest.Target) else None,
)
def test_targets(target, ours, met):
    found = result(yardstick=[1.0, 1.0], ours=ours, slow=[6.0, 6.0], fast=[4.0, 4.0])
    found.memory[OURS] = 5.0
    assert target.met(found) == met


def test_faster_than_nobody_is_no_promise_kept():
    assert contest.times_faster(1).met(result(yardstick=[1.0], ours=[1.0])) == "not measured"


def test_a_wrong_answer_of_ours_keeps_no_promise():
    found = result(yardstick=[1.0])
    found.failures[OURS] = "wrong"
    assert contest.correct("equal").met(found) == "no"


def test_a_row():
    found = result(targets=(contest.times_floor(3),), yardstick=[0.001, 0.002, 0.003], ours=[0.004], slow=[0.012], fast=[0.008])
    found.memory = {OURS: 1.234, "slow": 1234.5, "yardstick": 0.0}
    assert table.row(found) == (
        "A task",
        "yardstick 2 (1)",
        "4 (4)",
        "2 (4)",
        "fast 8 (8): 2 (2) ×",
        "fast 2, slow 3",
        "calibcore 1.23, slow 1,234, yardstick 0",
        "≤ 3 × yardstick: yes",
    )


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are forgotten by /proc/self/clear_refs")
def test_memory_of_a_sort_is_its_result():
    found = contest.fresh("memory", "Equal mass, 10⁶ rows", "np.sort", 1_000_000)
    assert 7 < found < 16  # a million float64 are 7.6 MB


def test_plain_sums_of_four_rows():
    y, p = np.array([1, 0, 1, 1]), np.array([0.1, 0.5, 0.6, 0.9])
    # Halves (0, 0.5] and (0.5, 1]: |0.9 − 0.5| and 0.4 + 0.1, over 4; in ranks of two rows each the same.
    assert sums.ece(y, p, 2) == pytest.approx(0.9 / 4)
    assert sums.equal_mass_ece(y, p, 2) == pytest.approx(0.9 / 4)
    # The fit pools the first two: ½, ½, 1, 1, which leaves 2 · ¼ over 4.
    assert sums.isotonic_loss(y, p) == pytest.approx(1 / 8)


def test_the_ends_of_bins_belong_to_the_lower_one():
    assert sums.bin_of(np.array([0.0, 0.1, 0.3, 0.7, 1.0]), 10).tolist() == [0, 0, 2, 6, 9]
    assert sums.bin_of(np.array([0.1, 0.3, 0.7], dtype=np.float32), 10).tolist() == [0, 2, 6]


def test_sums_of_a_profile_are_those_of_its_rows():
    import calibcore as cc

    rng = np.random.default_rng(1)
    p = rng.random(5_000)
    y = (rng.random(5_000) < p).astype(np.int8)
    expected = sums.added(sums.of_rows(y[:2_000], p[:2_000]), sums.of_rows(y[2_000:], p[2_000:]))
    predictions = cc.Predictions.from_arrays(y, p)
    for view in sums.VIEWS:
        found = sums.of_profile(predictions.profile(view))
        assert found["view"] == view
        sums.check_profile(found, expected)
        found["sums"]["15"][0][3] += 1
        with pytest.raises(AssertionError):
            sums.check_profile(found, expected)


def test_an_error_from_a_curve_without_counts():
    y, p = np.array([0, 1, 1]), np.array([0.05, 0.15, 0.95])
    share, mean = np.array([0.0, 1.0, 1.0]), np.array([0.05, 0.15, 0.95])
    # Bins of tenths, one row each: 0.05 + 0.85 + 0.05, over 3.
    assert peers.ece_of_curve((share, mean), y, p, 10) == pytest.approx(0.95 / 3)


@pytest.mark.parametrize(("text", "found"), [("0.14.0", (0, 14)), ("1.9", (1, 9)), ("2", (2,))])
def test_versions(text, found):
    assert peers.numbers(text) == found


def test_the_command(capsys, tmp_path):
    written = tmp_path / "table.md"
    asked = ["ECE, 10⁶", "again", "2 to 100", "--scale", "0.001", "--rounds", "1", "--no-peers", "--no-memory"]
    assert table.main([*asked, "--write", str(written)]) == 0
    text = capsys.readouterr().out
    assert written.read_text(encoding="utf-8") == text
    assert [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| ")][2:] == [
        "| ECE, 10⁶ rows",
        "| Equal width again, profile of 10⁷ rows",
        "| Equal mass again, profile of 10⁷ rows",
        "| 2 to 100 bins of both kinds, profile of 10⁷ rows",
    ]
    assert "0.001 of the rows" in text
    assert f"numpy {np.__version__}" in text


def test_the_list(capsys):
    assert table.main(["--list", "classwise"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_task_that_does_not_exist(capsys):
    with pytest.raises(SystemExit) as stopped:
        table.main(["no such task"])
    assert stopped.value.code == 2
    assert "--list" in capsys.readouterr().err
