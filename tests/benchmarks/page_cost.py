"""Compare the dashboard with a bare Streamlit page that draws the same figures: `python tests/benchmarks/page_cost.py`.

Four models of a million rows each, on Overview and on Compare; `--rows`, `--models` and `--page` change that.  Both
serve the same machine in the same run, turn by turn, so that their ratio does not depend on it.  Measured in the
browser: the time from opening the page in a fresh session to its first chart, and from a moved slider to the last
change under the charts.  The bare page gets its figures from the messages that the dashboard sent.
"""

# ruff: noqa: T201 - prints are what it is for

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "browser"))

from harness import Chromium, Server, find_chromium, find_command
from reader import Reader, new_context

PAGES = {"overview": "", "compare": "/compare"}  # and where they are
START = 15  # bins
CHART = '[data-testid="stPlotlyChart"]'
TARGETS = {"first chart": 1.3, "redraw": 1.5}

_FIRST_CHART = """
new MutationObserver((_, me) => {
  if (!document.querySelector('.js-plotly-plot .main-svg .trace')) return;
  window.firstChart = performance.now();
  me.disconnect();
}).observe(document, {subtree: true, childList: true});
"""

# What the same page costs with nothing but its charts: figures ready made, one slider.
_BARE = """
import json
import plotly.graph_objects as go
import streamlit as st

@st.cache_resource
def charts():
    with open({path!r}) as f:
        return json.load(f)

bins = st.sidebar.slider("Bins", 2, 50, {start}, key="bins")
for i, c in enumerate(charts()[str(bins)]):
    options = {{"on_select": "rerun", "selection_mode": "points"}} if c["selectable"] else {{}}
    height = c["spec"]["layout"].get("height", 450)
    st.plotly_chart(go.Figure(c["spec"]), key=f"chart {{i}}", theme=c["theme"] or None, config=c["config"], height=height, **options)
"""


class Wire:
    """The charts that a page received, read from its messages."""

    def __init__(self, reader: Reader) -> None:
        self._known: dict[str, Any] = {}
        self._charts: dict[tuple[int, ...], Any] = {}
        self._fresh = False
        reader.page.on("websocket", lambda socket: socket.on("framereceived", self._read))

    def _read(self, frame: Any) -> None:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        payload = frame if isinstance(frame, bytes) else frame["payload"]
        message = ForwardMsg.FromString(payload)
        if message.WhichOneof("type") == "ref_hash":  # sent before, so known by its hash
            known = self._known.get(message.ref_hash)
            if known is None:
                return
            metadata = message.metadata
            message = known
        else:
            metadata = message.metadata
            self._known[message.hash] = message
        if message.WhichOneof("type") == "new_session":
            self._fresh = True  # charts go when others come: a run of a part of the page, without charts, changes none
        if message.WhichOneof("type") == "delta" and message.delta.new_element.WhichOneof("type") == "plotly_chart":
            if self._fresh:
                self._charts.clear()
                self._fresh = False
            self._charts[tuple(metadata.delta_path)] = message.delta.new_element.plotly_chart

    def charts(self) -> list[dict[str, Any]]:
        """Of the last run, in the order of the page."""
        return [
            {"spec": json.loads(c.spec), "config": json.loads(c.config or "{}"), "theme": c.theme, "selectable": bool(c.selection_mode)}
            for _, c in sorted(self._charts.items())
        ]


def write_models(folder: Path, rows: int, models: int) -> list[str]:
    """Binary models of the same rows, ever surer of themselves, in a file each: label and probability of many digits."""
    rng = np.random.default_rng(7)
    said = rng.beta(0.7, 0.7, rows)
    label = rng.random(rows) < said
    logit = np.log(said / (1 - said))
    paths = []
    for i in range(models):
        paths.append(folder / f"model-{i}.csv")
        probability = 1 / (1 + np.exp(-logit * (1 + 0.3 * i)))
        lines = [f"{y:d},{p:.9f}" for y, p in zip(label, probability, strict=True)]
        paths[-1].write_text("label,probability\n" + "\n".join(lines) + "\n")
    return [str(path) for path in paths]


def record(chromium: Chromium, url: str, steps: int) -> dict[str, list[dict[str, Any]]]:
    """The dashboard's charts for every number of bins that will be shown."""
    reader = Reader(new_context(chromium.browser), url)
    wire = Wire(reader)
    reader.open()
    reader.charts()
    found = {}
    for bins in range(START, START + steps + 1):
        reader.slide("Bins", bins)
        found[str(bins)] = wire.charts()
    reader.page.context.close()
    return found


def first_chart(chromium: Chromium, url: str) -> dict[str, float]:
    """Milliseconds from opening the page, in a session without a past."""
    reader = Reader(new_context(chromium.browser), url)
    reader.page.add_init_script(_FIRST_CHART)
    reader.open()
    reader.page.wait_for_function("window.firstChart")
    times = reader.page.evaluate("[window.firstChart, window.probe.idleSince]")
    reader.page.context.close()
    return {"first chart": times[0], "whole page": times[1]}


def redraw(reader: Reader) -> dict[str, float]:
    """Milliseconds from one more bin to the last change under the charts."""
    reader.slider("Bins").focus()
    before, began = reader.page.evaluate(
        "s => { probe.watched = s; probe.drawn = 0; return [probe.runs, performance.now()] }",
        CHART,
    )
    reader.page.keyboard.press("ArrowRight")
    reader.settle(before, grace=5_000)
    reader.page.wait_for_function("performance.now() - Math.max(probe.drawn, probe.idleSince) > 700")
    drawn, ended = reader.page.evaluate("[probe.drawn, probe.idleSince]")
    # A very short run begins and ends between two looks of the browser and leaves no end of its own.
    return {"redraw": drawn - began, "script ended": (ended if ended > began else drawn) - began}


def measure(chromium: Chromium, urls: dict[str, str], repetitions: int) -> dict[str, dict[str, list[float]]]:
    """Every quantity of both pages, turn by turn, the one that goes first changing."""
    times: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in urls}
    readers = {name: Reader(new_context(chromium.browser), url) for name, url in urls.items()}

    def note(name: str, take: Callable[[], dict[str, float]]) -> None:
        for what, value in take().items():
            times[name][what].append(value)

    for name in urls:
        readers[name].open()
        readers[name].charts()
    for i in range(repetitions):
        for name in list(urls) if i % 2 == 0 else list(reversed(urls)):
            note(name, lambda name=name: first_chart(chromium, urls[name]))  # type: ignore[misc]
            note(name, lambda name=name: redraw(readers[name]))  # type: ignore[misc]
    for reader in readers.values():
        reader.page.context.close()
    return times


def print_result(times: dict[str, dict[str, list[float]]]) -> bool:
    """A table of medians in milliseconds; whether the targets are met.

    The ratio of the fastest tells what other programs on the machine disturb least.
    """
    print(f"{'median of ms':<14}{'dashboard':>10}{'bare page':>10}{'ratio':>7}{'target':>7}{'of the fastest':>16}   ranges")
    met = True
    for what, ours in times["dashboard"].items():
        bare = times["bare"][what]
        middle = [statistics.median(ours), statistics.median(bare)]
        ratio = round(middle[0] / middle[1], 2)
        met &= ratio <= TARGETS.get(what, ratio)
        spread = f"{min(ours):.0f}–{max(ours):.0f}, {min(bare):.0f}–{max(bare):.0f}"
        fastest = min(ours) / min(bare)
        print(f"{what:<14}{middle[0]:>10.0f}{middle[1]:>10.0f}{ratio:>7.2f}{TARGETS.get(what, ''):>7}{fastest:>16.2f}   {spread}")
    return met


def compare_pages(chromium: Chromium, folder: Path, url: str, page: str, repetitions: int) -> bool:
    """Serve the bare page with the figures of one of the dashboard's pages, measure both and print."""
    ours = url + PAGES[page]
    charts = record(chromium, ours, repetitions)
    folder.mkdir()
    (folder / "charts.json").write_text(json.dumps(charts))
    (folder / "bare.py").write_text(_BARE.format(path=str(folder / "charts.json"), start=START))
    bare = [sys.executable, "-m", "streamlit", "run", str(folder / "bare.py"), "--server.port={port}"]
    bare += ["--server.address=127.0.0.1", "--browser.gatherUsageStats=false", "--server.fileWatcherType=none"]
    with Server(bare, folder, watched=False) as plain:
        first_chart(chromium, plain.url)
        print(f"\n{page}: {len(charts[str(START)])} charts, {repetitions} repetitions")
        return print_result(measure(chromium, {"dashboard": ours, "bare": plain.url}, repetitions))


def main() -> int:
    """Measure, print, and exit with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--page", choices=PAGES, action="append")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Chromium(find_chromium()) as chromium:
        folder = Path(name)
        paths = write_models(folder, asked.rows, asked.models)
        (folder / "ours").mkdir()
        ours = [find_command(), "dashboard", *paths, "--port", "{port}"]
        with Server(ours, folder / "ours", watched=False) as dashboard:
            cold = first_chart(chromium, dashboard.url)
            print(f"{asked.models} models of {asked.rows:,} rows")
            print(f"first visit after the start, the files read: {cold['first chart']:.0f} ms")
            met = [compare_pages(chromium, folder / page, dashboard.url, page, asked.repetitions) for page in asked.page or PAGES]
    print("targets met" if all(met) else "a target is missed")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
