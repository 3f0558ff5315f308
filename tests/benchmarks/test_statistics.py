"""Speed of every task of the table, answers checked: `pytest tests/benchmarks -n 0 --benchmark-enable`; a plain run only checks.

A plain run takes few rows; with CALIBCORE_BENCHMARK_FULL=1 in the environment it is those of the table.
"""

from __future__ import annotations

import pytest
from contest import OURS, answer_of
from tasks import every_task

PEER = pytest.mark.filterwarnings("ignore")  # what another package warns of is not ours to mend
PAIRS = [
    pytest.param(t, name, id=f"{t.name}: {name}", marks=[] if name in (t.floor, OURS) else PEER) for t in every_task() for name in t.names()
]


@pytest.fixture(scope="module")
def case(request, full):
    """A task's contestants, by name."""
    task = request.param
    n = task.size if full else task.small
    if n is None:
        pytest.skip("the same as another task with so few rows")
    if why := task.missing():
        pytest.skip(why)
    with task.contestants(n) as everyone:
        yield task, {c.name: c for c in everyone}


@pytest.mark.parametrize(("case", "name"), PAIRS, indirect=["case"], scope="module")
def test_answer_and_speed(benchmark, case, name):
    task, everyone = case
    benchmark.group = task.name
    everyone[name].check(answer_of(benchmark(everyone[name].run)))
