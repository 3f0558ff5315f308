"""The pages of the dashboard, read from its entry, so that a new page is tested from its first day; and what each must keep."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reader import Reader

_ENTRY = Path(__file__).parents[2] / "dashboard" / "app.py"


def _pages() -> dict[str, str]:
    found = re.findall(r'st\.Page\("views/\w+\.py", title="([^"]+)"(?:, url_path="(\w+)")?', _ENTRY.read_text(encoding="utf-8"))
    return {address: title for title, address in found}


PAGES = _pages()
"""Title of each page by its address."""


def assert_sound(reader: Reader) -> None:
    """One h1, no failed part, nothing wider than the screen."""
    reader.main.locator("h1").first.wait_for()
    assert reader.page.locator("h1").count() == 1
    text = reader.text()
    assert "could not be computed" not in text
    assert "Traceback" not in text
    assert reader.overflow() <= 0
