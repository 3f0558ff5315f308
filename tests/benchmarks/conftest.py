"""How much the benchmarks do: few rows in a plain run, all of them with CALIBCORE_BENCHMARK_FULL=1."""

import os

import pytest


@pytest.fixture(scope="session")
def full():
    return os.environ.get("CALIBCORE_BENCHMARK_FULL") == "1"
