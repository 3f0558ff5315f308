"""Ids without a telling name: the one column that is left and differs in every row."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibcore as cc

N = 200
RNG = np.random.default_rng(11)
P = RNG.uniform(size=N).round(3)
Y = (RNG.uniform(size=N) < P).astype(int)
CUSTOMERS = 10_000 + RNG.permutation(5000)[:N]


def csv(**columns):
    columns = {"label": Y, "churn_probability": P, **columns}
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, r)) for r in rows)]).encode()


def found(data, **mapping):
    (one,) = cc.read(data, mapping=cc.Mapping(**mapping) if mapping else None)
    assert cc.inspect(data, mapping=cc.Mapping(**mapping) if mapping else None).roles.get("id") == one.source["roles"].get("id")
    return one.source["roles"].get("id")


@pytest.mark.parametrize("values", [CUSTOMERS, [f"K-{c}" for c in CUSTOMERS], [f"{c:x}@a.example" for c in CUSTOMERS]])
def test_the_column_that_differs_in_every_row_is_the_id(values):
    data = csv(Kunde=values, Region=["Ost", "West"] * 100)
    assert found(data) == "Kunde"
    assert cc.inspect(data).sentence.endswith("id = Kunde (different in every row).")
    (one,) = cc.read(data)
    assert one.source["id_by"] == "content"
    assert [str(i) for i in one.ids] == [str(v) for v in values]


@pytest.mark.parametrize(
    "column",
    [
        {"Kunde": [*CUSTOMERS[:-1], CUSTOMERS[0]]},  # one repeats
        {"nummer": range(N)},
        {"nummer": range(1, N + 1)},
        {"nummer": RNG.permutation(N)},  # the rows in another order
        {"umsatz": RNG.permutation(5000)[:N] / 7},
        {"umsatz": [f"{v}.00" for v in CUSTOMERS]},
        {"x1": CUSTOMERS},
        {"tag": [f"{1900 + i}-01-05" for i in range(N)]},
        {"tag": [f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.{1800 + i}" for i in range(N)]},
        {"text": [f"this is remark {i}" for i in range(N)]},
        {"delta": [f"-{v}" for v in CUSTOMERS]},
        {"Kunde": CUSTOMERS, "Vertrag": CUSTOMERS[::-1]},  # two: which one is not said
    ],
    ids="+".join,
)
def test_anything_else_is_no_id(column):
    assert found(csv(**column)) is None


def test_what_has_a_name_or_another_role_comes_first():
    both = csv(Kunde=CUSTOMERS, customer_id=CUSTOMERS + 7)
    assert found(both) == "customer_id"
    assert "id_by" not in cc.read(both)[0].source
    assert found(csv(Kunde=CUSTOMERS), cluster="Kunde") is None
    assert found(csv(Kunde=CUSTOMERS), weight="Kunde") is None
    assert found(csv(Kunde=CUSTOMERS), id="none") is None
    assert found(csv(Kunde=CUSTOMERS), id="Kunde") == "Kunde"


def test_few_rows_say_nothing():
    few = {"label": Y[:19], "churn_probability": P[:19], "Kunde": CUSTOMERS[:19]}
    assert found(csv(**few)) is None


def test_of_many_rows_the_first_decide_and_the_sentence_says_so(tmp_path):
    n = 300_001
    numbers = 10_000_000 + np.random.default_rng(2).permutation(n)
    numbers[-1] = numbers[0]  # a repeat that is not looked for: pairing finds it
    table = pa.table({"label": np.arange(n) % 2, "probability": np.full(n, 0.5), "Kunde": numbers})
    pq.write_table(table, tmp_path / "a.parquet")
    assert cc.inspect(tmp_path / "a.parquet").sentence.endswith("id = Kunde (different in the first rows).")
    (one,) = cc.read(tmp_path / "a.parquet")
    (d,) = cc.compare([one, one.but(name="b")]).differences
    assert d.pairing.how == "row order"


def test_parquet_too(tmp_path):
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"label": Y, "probability": P, "Kunde": CUSTOMERS, "umsatz": CUSTOMERS * 1.5}), file)
    (one,) = cc.read(file)
    assert one.source["roles"]["id"] == "Kunde"


def test_rows_in_another_order_are_paired_by_what_was_found():
    # sorted by label, then otherwise differently: by their order the wrong rows would be paired
    one, two = (np.lexsort((RNG.uniform(size=N), Y)) for _ in range(2))
    q = np.clip(P + 0.1, 0, 1)
    a, b = (cc.read(csv(label=Y[o], churn_probability=p[o], Kunde=CUSTOMERS[o]), name=n)[0] for o, p, n in ((one, P, "a"), (two, q, "b")))
    (d,) = cc.compare([a, b]).differences
    assert d.pairing.how == "id"
    moved = ((q - Y) ** 2 - (P - Y) ** 2).mean()
    assert d.brier.value == pytest.approx(moved, abs=1e-12)
    half = 1.9720 * np.std((q - Y) ** 2 - (P - Y) ** 2, ddof=1) / np.sqrt(N)  # t with 199 degrees of freedom
    assert d.brier.high - d.brier.value == pytest.approx(half, rel=1e-4)
