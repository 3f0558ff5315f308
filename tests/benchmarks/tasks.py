"""The tasks of the table: what is asked, of how many rows, beside which yardstick, with which promise."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import cycle
from types import ModuleType
from typing import Any

import file_tasks
import numpy as np
import peers
import sums
from contest import OURS, Contestant, Task, in_memory, megabytes, milliseconds, times_faster, times_floor

import calibcore as cc
from calibcore.inference.chance import chance_range
from calibcore.inference.significance import detect
from calibcore.measures.calibration_error import SWEPT, sweep

BINS = 15
COMPILER = "numba"
SUM, SORT = "np.sum", "np.sort"


def close(expected: float, relative: float = 1e-9) -> Callable[[Any], None]:
    """A check of one number."""

    def check(found: Any) -> None:
        assert math.isclose(float(found), expected, rel_tol=relative), f"{float(found)!r} for {expected!r}"

    return check


def two_classes(n: int):
    """Labels 0 and 1 as int64, and P(1): too sure on both sides, so that neighbouring errors do not all have one sign."""
    rng = np.random.default_rng(5)
    p = rng.random(n)
    return (rng.random(n) < 0.5 + 0.8 * (p - 0.5)).astype(np.int64), p


def many_classes(n: int, k: int, dtype: Any):
    """Labels 0…K−1 as int64, and a probability for each: 70 % of the labels follow them, the others anything."""
    rng = np.random.default_rng(6)
    matrix = rng.standard_normal((n, k), dtype=dtype)
    np.exp(2 * matrix, out=matrix)
    matrix /= matrix.sum(axis=1, keepdims=True)
    drawn = (np.cumsum(matrix, axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=k - 1)
    return np.where(rng.random(n) < 0.7, drawn, rng.integers(0, k, n)), matrix


def beside(kind: str, y: Any, p: Any, expected: float) -> list[Contestant]:
    """The installed peers."""

    def one(a: peers.Adapter) -> Contestant:
        check = close(expected, a.tolerance)
        return Contestant(a.name, lambda: a.run(y, p, BINS), lambda found: check(a.value(found, y, p, BINS)))

    return [one(a) for a in peers.installed(kind)]


def names(kind: str) -> tuple[str, ...]:
    return tuple(a.name for a in peers.installed(kind))


def sum_of(p: Any) -> Contestant:
    return Contestant(SUM, lambda: np.sum(p), close(math.fsum(p.ravel().tolist()), 1e-4 if p.dtype == np.float32 else 1e-12))


def sort_of(p: Any) -> Contestant:
    def rising(found: Any) -> None:
        assert len(found) == len(p)
        assert (found[1:] >= found[:-1]).all()

    return Contestant(SORT, lambda: np.sort(p), rising)


# --- straight from rows ---------------------------------------------------------------------------------------------


def ece(n: int) -> list[Contestant]:
    y, p = two_classes(n)
    expected = sums.ece(y, p, BINS)
    ours = Contestant(OURS, lambda: cc.expected_calibration_error(y, p, n_bins=BINS), close(expected))
    return [sum_of(p), ours, *beside("ece", y, p, expected)]


@contextmanager
def ece_compiled(n: int) -> Iterator[list[Contestant]]:
    """In a program that has loaded Numba; out of sight again afterwards, since other tasks are NumPy's alone."""
    sys.modules[COMPILER] = loaded.setdefault(COMPILER, sys.modules.get(COMPILER) or import_module(COMPILER))
    try:
        yield ece(n)[:2]
    finally:
        del sys.modules[COMPILER]


loaded: dict[str, ModuleType] = {}


def no_compiler() -> str:
    return "" if COMPILER in loaded or find_spec(COMPILER) else f"{COMPILER} is not installed"


def top_label(k: int, dtype: Any) -> Callable[[int], list[Contestant]]:
    def make(n: int) -> list[Contestant]:
        y, matrix = many_classes(n, k, dtype)
        expected = sums.ece(*sums.top_label(y, matrix), BINS)
        ours = Contestant(OURS, lambda: cc.expected_calibration_error(y, matrix, n_bins=BINS), close(expected))
        return [sum_of(matrix), ours, *beside("top_label", y, matrix, expected)]

    return make


def classwise(kind: str) -> Callable[[int], list[Contestant]]:
    def make(n: int) -> list[Contestant]:
        y, matrix = many_classes(n, 10, np.float64)
        expected = float(np.mean([sums.ece(y == k, matrix[:, k], BINS) for k in range(10)]))
        ours = Contestant(OURS, lambda: cc.classwise_calibration_error(y, matrix, n_bins=BINS), lambda c: close(expected)(c.mean))
        return [sum_of(matrix), ours, *beside(kind, y, matrix, expected)]

    return make


def equal_mass(n: int) -> list[Contestant]:
    y, p = two_classes(n)
    expected = sums.equal_mass_ece(y, p, BINS)
    ours = Contestant(OURS, lambda: cc.expected_calibration_error(y, p, n_bins=BINS, strategy="equal_mass"), close(expected))
    return [sort_of(p), ours, *beside("equal_mass", y, p, expected)]


def building(n: int) -> list[Contestant]:
    y, p = two_classes(n)

    def check(profile: cc.Profile) -> None:
        assert np.array_equal(profile.value, np.unique(p))
        assert (profile.count.sum(), profile.positive.sum()) == (n, y.sum())

    return [sort_of(p), Contestant(OURS, lambda: cc.Predictions.from_arrays(y, p).profile("positive"), check)]


def corp(n: int) -> list[Contestant]:
    y, p = two_classes(n)
    expected = float(np.mean((y - p) ** 2)) - sums.isotonic_loss(y, p)
    ours = Contestant(OURS, lambda: cc.corp_decomposition(y, p), lambda found: close(expected)(found.mcb))
    return [sum_of(p), ours, *beside("corp", y, p, expected)]


# --- from a profile that is built -----------------------------------------------------------------------------------


def profile_of(y: Any, p: Any) -> cc.Profile:
    return cc.Predictions.from_arrays(y, p).profile("positive")


def binning_again(equal_width: bool) -> Callable[[int], list[Contestant]]:  # noqa: FBT001 - one of two
    """Another number of bins at every call, so that nothing can be remembered but cumulative sums."""

    def make(n: int) -> list[Contestant]:
        y, p = two_classes(n)
        profile, numbers = profile_of(y, p), cycle((15, 7, 40, 97))

        def run() -> Any:
            bins = next(numbers)
            return profile.bin(cc.Partition.equal_width(bins) if equal_width else cc.Partition.equal_mass(profile, bins))

        plain = sums.ece if equal_width else sums.equal_mass_ece
        return [sum_of(p), Contestant(OURS, run, lambda b: close(plain(y, p, len(b.count)))(b.ece))]

    return make


def sweeping(n: int) -> list[Contestant]:
    y, p = two_classes(n)
    profile = profile_of(y, p)

    def check(found: Any) -> None:
        assert found.n_bins == SWEPT == tuple(range(2, 101))
        for bins in (2, 15, 100):
            close(sums.ece(y, p, bins))(found.equal_width[bins - 2])
            close(sums.equal_mass_ece(y, p, bins))(found.equal_mass[bins - 2])

    return [sum_of(p), Contestant(OURS, lambda: sweep(profile), check)]


def by_chance(n: int) -> list[Contestant]:
    y, p = two_classes(n)
    profile, partition = profile_of(y, p), cc.Partition.equal_width(BINS)
    # The residual of a calibrated bin is nearly normal with variance Σp(1−p), and E|N(0, v)| = √(2v/π).
    expected = np.sqrt(2 * np.bincount(sums.bin_of(p, BINS), weights=p * (1 - p)) / math.pi).sum() / n

    def check(found: Any) -> None:
        close(expected, 0.1)(found.median)
        assert found.p_value == 1 / 1001  # 1,000 draws, none as large as an error of 0.2 × |p − 1/2|

    return [sum_of(p), Contestant(OURS, lambda: chance_range(profile, partition), check)]


def detection(n: int) -> list[Contestant]:
    """Rows too sure by a tenth everywhere, so the widest range of the cumulative residuals is about the whole gap."""
    rng = np.random.default_rng(5)
    p = rng.uniform(0.5, 1.0, n)
    right = rng.random(n) < p - 0.1
    profile = cc.Predictions.from_top_label(p, right).profile()
    gap = abs(np.mean(right - p))

    def check(found: Any) -> None:
        assert found.p_value == 1 / 1001
        assert gap - 1e-12 <= found.kuiper < gap + 4 / math.sqrt(n)

    return [sum_of(p), Contestant(OURS, lambda: detect(profile), check)]


TASKS = (
    Task("ECE, 10⁶ rows", 1_000_000, 100_000, SUM, in_memory(ece), peers=names("ece")),
    Task(
        "ECE, 10⁷ rows",
        10_000_000,
        None,
        SUM,
        in_memory(ece),
        targets=(times_floor(14), times_faster(1), megabytes(2)),
        peers=names("ece"),
    ),
    Task(
        "ECE, 10⁷ rows, with Numba",
        10_000_000,
        2_000_000,  # fewer are left to NumPy
        SUM,
        ece_compiled,
        targets=(times_floor(6), megabytes(2)),
        missing=no_compiler,
    ),
    *(
        Task(
            f"Top label, 10⁶ rows of 10 classes, {dtype.__name__}",
            1_000_000,
            20_000,
            SUM,
            in_memory(top_label(10, dtype)),
            targets=(times_floor(12), times_faster(2.5)),
            peers=names("top_label"),
        )
        for dtype in (np.float32, np.float64)
    ),
    Task(
        "Top label, 5·10⁴ rows of 1,000 classes, float32",
        50_000,
        500,
        SUM,
        in_memory(top_label(1000, np.float32)),
        targets=(times_floor(1.5),),
        peers=names("top_label"),
    ),
    Task(
        "Classwise, 10⁶ rows of 10 classes",
        1_000_000,
        20_000,
        SUM,
        in_memory(classwise("classwise")),
        targets=(times_faster(10),),
        peers=names("classwise"),
    ),
    Task(
        "Classwise, peers called class by class",
        1_000_000,
        20_000,
        SUM,
        in_memory(classwise("class by class")),
        peers=names("class by class"),
    ),
    Task("Equal mass, 10⁶ rows", 1_000_000, 100_000, SORT, in_memory(equal_mass), peers=names("equal_mass")),
    Task(
        "Equal mass, 10⁷ rows",
        10_000_000,
        None,
        SORT,
        in_memory(equal_mass),
        targets=(times_floor(1.2),),
        peers=names("equal_mass"),
    ),
    Task("Building a profile, 10⁷ rows", 10_000_000, 100_000, SORT, in_memory(building)),
    Task("CORP, 10⁶ rows", 1_000_000, 50_000, SUM, in_memory(corp), peers=names("corp")),
    Task("Equal width again, profile of 10⁷ rows", 10_000_000, 100_000, SUM, in_memory(binning_again(True)), targets=(milliseconds(1),)),
    Task("Equal mass again, profile of 10⁷ rows", 10_000_000, 100_000, SUM, in_memory(binning_again(False)), targets=(milliseconds(1),)),
    Task("2 to 100 bins of both kinds, profile of 10⁷ rows", 10_000_000, 100_000, SUM, in_memory(sweeping), targets=(milliseconds(50),)),
    Task("Chance range, 1,000 draws, profile of 10⁷ rows", 10_000_000, 100_000, SUM, in_memory(by_chance), targets=(milliseconds(500),)),
    Task("Detection, profile of 10⁶ rows", 1_000_000, 20_000, SUM, in_memory(detection)),
)


def every_task() -> tuple[Task, ...]:
    """Of arrays, then of files and processes."""
    return (*TASKS, *file_tasks.TASKS)
