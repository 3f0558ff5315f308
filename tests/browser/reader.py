"""One reader at the dashboard: a tab with its own session, what it can do, and what went wrong in it."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from harness import LOOPBACK, missing
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Frame, Locator, Request, expect
from playwright.sync_api import Error as PlaywrightError

DESKTOP = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 360, "height": 780}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
TIMEOUT = 30_000  # milliseconds; plenty, since several browsers may share the machine

# Streamlit tells by two attributes whether its script runs and whether the socket is open; this keeps their history.
_PROBE = """
(() => {
  if (window.probe) return;
  const probe = window.probe = {runs: 0, idleSince: null, drawn: 0, watched: null};
  const look = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    if (!app) return;
    const running = app.getAttribute('data-test-script-state') !== 'notRunning'
      || app.getAttribute('data-test-connection-state') !== 'CONNECTED';
    if (running && probe.idleSince !== null) probe.runs += 1;
    if (running) probe.idleSince = null;
    else if (probe.idleSince === null) probe.idleSince = performance.now();
  };
  const touches = record => {
    const at = record.target.nodeType === 1 ? record.target : record.target.parentElement;
    return (at && at.closest(probe.watched))
      || [...record.addedNodes].some(n => n.nodeType === 1 && (n.matches(probe.watched) || n.querySelector(probe.watched)));
  };
  new MutationObserver(records => {
    look();
    if (probe.watched && records.some(touches)) probe.drawn = performance.now();
  }).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
})();
"""
_IDLE = """
([before, grace, began]) => {
  const probe = window.probe, now = performance.now();
  if (!probe || probe.idleSince === null || now - probe.idleSince < 150) return false;
  if (document.querySelector('[data-testid="stSkeleton"], [data-testid="stSpinner"]')) return false;
  return probe.runs > before || now - began > grace;
}
"""
# A deep link first asks for these two beside the page; Streamlit answers 404 and goes on.
_HARMLESS = re.compile(r"/[^/]+/_stcore/(health|host-config)$")


# What axe finds in Streamlit's own elements, where a page has no say: the rule, the element around it, and why it stays.
STREAMLITS_OWN = {
    (
        "presentation-role-conflict",
        "stFileUploaderDropzone",
    ): "its drop zone has the role of no element, and a label; the button in it works",
    (
        "scrollable-region-focusable",
        "stTable",
    ): "its frame has no tabindex; Chromium and Firefox let Tab reach a frame that scrolls without one",
    ("scrollable-region-focusable", "stCode"): "the same",
}
_AXE = """
async () => {
  const found = await axe.run({resultTypes: ['violations']});
  return found.violations.flatMap(v => v.nodes.map(n => {
    const around = document.querySelector(n.target[0]).closest('[data-testid]');
    return [v.id, around ? around.dataset.testid : '', `${v.id} (${v.impact}): ${n.html.slice(0, 160)}`];
  }));
}
"""


def new_context(browser: Browser, *, phone: bool = False, dark: bool = False) -> BrowserContext:
    """A profile without a past: a desktop or a phone, of a reader who prefers light or dark pages."""
    options: dict[str, Any] = {**(PHONE if phone else DESKTOP), "color_scheme": "dark" if dark else "light"}
    return browser.new_context(**options, accept_downloads=True, reduced_motion="reduce")


class Reader:
    """A new tab on one server, which is a session of its own.

    Parameters
    ----------
    context : BrowserContext
    url : str
        Address of the server.
    """

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.url = url
        self._problems: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(TIMEOUT)
        self.page.add_init_script(_PROBE)
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda e: self._problems.append(f"page error: {e}"))
        self.page.on("request", lambda r: self._check_host(r.url))
        self.page.on("requestfailed", self._on_failed)
        self.page.on("websocket", lambda w: self._check_host(w.url))
        self.page.on("dialog", self._on_dialog)

    # What went wrong

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _HARMLESS.search(message.location["url"]):
            self._problems.append(f"console error: {message.text[:300]} ({message.location['url']})")

    def _check_host(self, url: str) -> None:
        parts = urlparse(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in LOOPBACK:
            self._problems.append(f"request to outside: {url[:300]}")

    def _on_failed(self, request: Request) -> None:
        # A download, a reload and a closed page abort their request; that is no failure.
        if request.failure != "net::ERR_ABORTED":
            self._problems.append(f"request failed: {request.url[:300]} ({request.failure})")

    def _on_dialog(self, dialog: Any) -> None:
        self._problems.append(f"a script opened a dialog: {dialog.message}")
        dialog.dismiss()

    def problems(self) -> list[str]:
        """Console errors, page errors, failed requests, requests to outside, script dialogs; in their order."""
        return list(self._problems)

    def close(self) -> None:
        """Close the tab, which ends the session."""
        self.page.close()

    # Waiting

    def open(self, path: str = "") -> None:
        """Go to a page by its address and wait until it stands."""
        self.page.goto(f"{self.url}/{path}")
        self.settle()

    def settle(self, before: int = -1, *, grace: float = 0) -> None:
        """Wait until the script rests, and first until a run after number ``before`` began or ``grace`` ms passed."""
        self.page.locator('[data-testid="stApp"]').wait_for(timeout=TIMEOUT)
        began = self.page.evaluate("performance.now()")
        self.page.wait_for_function(_IDLE, arg=[before, grace, began], timeout=60_000, polling=50)

    @contextmanager
    def rerun(self, *, grace: float = 2_000) -> Iterator[None]:
        """Do something that makes the page run again, then wait until it stands."""
        before = self.page.evaluate("window.probe.runs")
        yield
        self.settle(before, grace=grace)

    # Reading

    @property
    def main(self) -> Locator:
        """The page without its sidebar."""
        return self.page.get_by_test_id("stMain")

    def text(self) -> str:
        """What the page says, without its sidebar."""
        return self.main.inner_text()

    def sidebar_text(self) -> str:
        """What the sidebar says."""
        return self.page.get_by_test_id("stSidebar").inner_text()

    def shows(self, text: str | re.Pattern[str], *, within: Locator | None = None) -> None:
        """Wait until a text is there, letter by letter."""
        expect(within or self.main).to_contain_text(text, timeout=TIMEOUT)

    def hides(self, text: str | re.Pattern[str], *, within: Locator | None = None) -> None:
        """Wait until a text is gone."""
        expect(within or self.main).not_to_contain_text(text, timeout=TIMEOUT)

    def charts(self, least: int = 1) -> Locator:
        """The charts, once at least so many are drawn."""
        drawn = "n => document.querySelectorAll('.js-plotly-plot .main-svg').length >= n"
        self.page.wait_for_function(drawn, arg=least, timeout=TIMEOUT)
        return self.page.locator(".js-plotly-plot")

    def chart(self, alt: str) -> Locator:
        """A chart by the start of its text for screen readers, once it is drawn."""
        found = self.page.get_by_role("figure", name=re.compile(f"^{re.escape(alt)}")).first.locator(".js-plotly-plot")
        found.locator(".main-svg").first.wait_for()
        return found

    def metric(self, label: str) -> str:
        """A number that stands under its label."""
        name = re.compile(rf"^\s*{re.escape(label)}\s*$")
        found = self.page.get_by_test_id("stMetric").filter(has=self.page.get_by_test_id("stMetricLabel").filter(has_text=name))
        return found.first.get_by_test_id("stMetricValue").inner_text()

    def table(self, name: str) -> list[dict[str, str]]:
        """A table by the start of what it is called, one dict a row."""
        rows = self.page.get_by_role("table", name=re.compile(f"^{re.escape(name)}")).first.get_by_role("row")
        header, *cells = (r.locator("th, td").all_inner_texts() for r in rows.all())
        return [dict(zip(header, row, strict=True)) for row in cells]

    def grid(self, label: str) -> tuple[int, list[dict[str, str]]]:
        """Number of rows of a table drawn on a canvas, and those in view; read from its twin for screen readers."""
        frame = self.page.get_by_role("figure", name=label).or_(self.page.get_by_test_id("stDataFrame")).first
        frame.evaluate("e => e.scrollIntoView({block: 'center'})")
        twin = frame.locator("table[role=grid]")
        twin.locator("tr").nth(1).wait_for(state="attached")
        header, *cells = twin.evaluate("t => [...t.querySelectorAll('tr')].map(r => [...r.children].map(c => c.innerText.trim()))")
        return int(twin.get_attribute("aria-rowcount") or 0) - 1, [dict(zip(header, row, strict=True)) for row in cells]

    def query(self) -> dict[str, str]:
        """What the address holds after its question mark."""
        found: dict[str, str] = self.page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")
        return found

    def settings(self) -> dict[str, str]:
        """The settings in the address, without the mark that files were added."""
        return {name: value for name, value in self.query().items() if name != "files"}

    # Acting

    def widget(self, kind: str, label: str | re.Pattern[str]) -> Locator:
        """A widget by Streamlit's name of its kind and by its label."""
        name = label if isinstance(label, re.Pattern) else re.compile(rf"^\s*{re.escape(label)}\s*\*?\s*$")
        of_label = self.page.locator('[data-testid="stWidgetLabel"]', has_text=name)
        return self.page.get_by_test_id(kind).filter(has=of_label).first

    def upload(self, *files: Path) -> None:
        """Add files in the sidebar."""
        with self.rerun(grace=5_000):
            self.page.locator('[data-testid="stFileUploader"] input[type="file"]').set_input_files([str(f) for f in files])

    def upload_bytes(self, name: str, data: bytes) -> None:
        """Add one file under any name, also one that no file system would take."""
        with self.rerun(grace=5_000):
            payload: Any = {"name": name, "mimeType": "text/csv", "buffer": data}
            self.page.locator('[data-testid="stFileUploader"] input[type="file"]').set_input_files([payload])

    def go(self, title: str) -> None:
        """Change the page by the menu; on a narrow screen it sits in the sidebar."""
        links = '[data-testid="stTopNavLink"], [data-testid="stSidebarNavLink"]'
        link = self.page.locator(links).filter(has_text=re.compile(rf"{re.escape(title)}\s*$")).first
        box = link.bounding_box() if link.count() else None
        if box is None or box["x"] < 0:  # the closed sidebar lies beside the screen
            self.page.get_by_test_id("stExpandSidebarButton").click()
            self.page.wait_for_timeout(400)
        with self.rerun():
            link.click()
        self._uncover()

    def _uncover(self) -> None:
        """Close the sidebar where it covers the page."""
        size = self.page.viewport_size
        button = self.page.get_by_test_id("stSidebarCollapseButton").get_by_role("button")
        if size is not None and size["width"] < 700 and self.page.get_by_test_id("stSidebar").get_attribute("data-collapsed") == "false":
            button.click()
            self.page.wait_for_timeout(400)

    def follow(self, label: str | re.Pattern[str]) -> None:
        """Click a link of the page."""
        with self.rerun():
            self.main.get_by_role("link", name=label).last.click()

    def unfold(self, title: str) -> None:
        """Open a fold and wait for what is made then."""
        fold = self.main.get_by_test_id("stExpander").filter(has=self.page.locator("summary", has_text=title)).first
        with self.rerun():
            fold.locator("summary").click()

    def unfold_all(self) -> None:
        """Open all folds, also those that lie in others."""
        closed = self.page.locator("details:not([open]) > summary")
        for _ in range(4):
            if not closed.count():
                return
            with self.rerun(grace=1_000):
                closed.evaluate_all("all => all.forEach(e => e.click())")
        raise AssertionError("what is unfolded folds again")

    def toggle(self, label: str) -> None:
        """Switch a toggle."""
        with self.rerun():
            self.main.get_by_test_id("stCheckbox").filter(has_text=label).locator("label").click()

    def type_in(self, label: str, text: str) -> None:
        """Write into a field and leave it."""
        field = self.main.get_by_label(label, exact=True)
        field.fill(text)
        with self.rerun():
            field.press("Tab")

    def slider(self, label: str) -> Locator:
        """The thumb of a slider."""
        return self.page.get_by_role("group", name=label, exact=True).get_by_role("slider")

    def slide(self, label: str, value: int) -> None:
        """Move a slider by its arrow keys, one step a key."""
        thumb = self.slider(label)
        steps = value - int(thumb.input_value())
        if not steps:
            return
        thumb.focus()
        with self.rerun():
            for _ in range(abs(steps)):
                self.page.keyboard.press("ArrowRight" if steps > 0 else "ArrowLeft")
        expect(thumb).to_have_value(str(value))

    def pick(self, label: str, option: str) -> None:
        """Choose in a segmented control."""
        choice = self.page.get_by_role("radiogroup", name=label, exact=True).get_by_role("radio", name=option, exact=True)
        with self.rerun():
            choice.click()
        expect(choice).to_have_attribute("aria-checked", "true")

    def _listed(self, label: str | re.Pattern[str]) -> Locator:
        """The options of a selectbox, its list open; a click while another list closes is swallowed, so try again."""
        box = self.widget("stSelectbox", label).get_by_role("combobox")
        options = self.page.get_by_role("option")
        for _ in range(4):
            if box.get_attribute("aria-expanded") != "true":
                box.click()
            try:
                options.first.wait_for(timeout=2_000)
            except PlaywrightError:
                continue
            return options
        raise AssertionError(f"the list of {label!r} does not open")

    def options(self, label: str) -> Sequence[str]:
        """What a selectbox offers (of a long list, what is in view)."""
        found = self._listed(label).all_inner_texts()
        self.page.keyboard.press("Escape")
        return found

    def choose(self, label: str | re.Pattern[str], option: str | re.Pattern[str]) -> str:
        """Choose in a selectbox; the text of the chosen option."""
        name = option if isinstance(option, re.Pattern) else re.compile(rf"^\s*{re.escape(option)}\s*$")
        chosen = self._listed(label).filter(has_text=name).first
        text = chosen.inner_text()
        with self.rerun():
            chosen.click()
        return text

    @property
    def dialog(self) -> Locator:
        """The open dialog."""
        return self.page.get_by_role("dialog")

    def answer(self, option: str) -> None:
        """Choose an answer of the dialog's radio buttons, of the last question that offers it."""
        labels = self.dialog.get_by_test_id("stRadio").locator("label")
        choice = labels.filter(has_text=re.compile(rf"^\s*{re.escape(option)}\s*$")).last
        with self.rerun():
            choice.click()

    def download(self, name: str, folder: Path) -> Path:
        """Press a download button; the saved file."""
        # A deferred download that is asked for while the page still runs fails, so let it rest first.
        self.settle()
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name=name, exact=True).first.click()
        saved = folder / waiting.value.suggested_filename
        waiting.value.save_as(saved)
        self.settle(grace=300)
        return saved

    def click_mark(self, plot: Locator, selector: str, index: int = 0) -> None:
        """Click the middle of a mark of a chart; marks lie under Plotly's drag layer, so by its place on the screen."""
        plot.evaluate("e => e.scrollIntoView({block: 'center'})")
        self.page.wait_for_timeout(400)  # two clicks within 300 ms are a double click, which clears the selection
        box = plot.locator(selector).nth(index).bounding_box()
        assert box is not None, f"{plot} has no mark {selector} number {index}"
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        with self.rerun():
            self.page.mouse.move(x, y)
            self.page.mouse.click(x, y)

    def tab_to(self, target: Locator, *, most: int = 120) -> None:
        """Press Tab until a control has the focus, as a reader without a mouse."""
        for _ in range(most):
            if target.evaluate("e => e === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{most} presses of Tab do not reach {target}")

    # Looking

    def overflow(self) -> int:
        """Pixels by which the page is wider than the screen."""
        wider = """() => Math.max(...['html', '[data-testid="stMain"]'].map(s => document.querySelector(s))
            .map(e => e.scrollWidth - e.clientWidth))"""
        return int(self.page.evaluate(wider))

    def axe(self, *, within: Frame | None = None) -> list[str]:
        """What axe-core finds wrong on the page, or in a frame of it, one line an element; without what is Streamlit's own."""
        place = within or self.page
        place.evaluate(axe_script())
        return [line for rule, around, line in place.evaluate(_AXE) if (rule, around) not in STREAMLITS_OWN]

    def screenshot(self, path: Path) -> None:
        """Picture of the whole page. Streamlit scrolls an inner element, so the screen grows to its height."""
        size = self.page.viewport_size
        assert size is not None
        height = """() => { const m = document.querySelector('[data-testid="stMain"]');
            return Math.ceil(m.scrollHeight + m.getBoundingClientRect().top) }"""
        self.page.set_viewport_size({"width": size["width"], "height": min(max(size["height"], self.page.evaluate(height)), 8_000)})
        self.page.wait_for_timeout(400)
        path.parent.mkdir(exist_ok=True)
        self.page.screenshot(path=path)
        self.page.set_viewport_size(size)


@functools.cache
def axe_script() -> str:
    """The source of axe-core, which a package brings along."""
    if importlib.util.find_spec("axe_playwright_python") is None:
        missing("axe-playwright-python is not installed")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
