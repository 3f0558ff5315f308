"""Matplotlib's SVG file → one small element that may stand beside others in a page."""

from __future__ import annotations

import hashlib
import re
from xml.etree import ElementTree as ET

from calibcore.plot.marks import Chart

__all__ = ["inlined", "prefix_of"]

_SPACES = {"{http://www.w3.org/2000/svg}": "", "{http://www.w3.org/1999/xlink}": "xlink:"}
_ROOT = {"xmlns": "http://www.w3.org/2000/svg", "xmlns:xlink": "http://www.w3.org/1999/xlink"}
_SHAPES = ("d", "x", "y", "x1", "y1", "x2", "y2", "width", "height", "transform", "points")
_NUMBER = re.compile(r"-?\d+\.\d+")
_REFERENCE = re.compile(r"(?<=^#).+|(?<=url\(#)[^)]+")
_NAMED_FONT = re.compile(r"'[^']*',? ?")
_UNTURNED = re.compile(r"rotate\(-?0 [^)]*\)")


def prefix_of(chart: Chart, *, dark: bool) -> str:
    """What the ids of a chart's picture begin with: the same for the same chart, another for another."""
    return "c" + hashlib.sha256(repr((chart, dark)).encode("utf-8", "backslashreplace")).hexdigest()[:10]


def inlined(text: str, title: str, description: str, prefix: str) -> str:
    """The picture without what only a file of its own needs, with a title and a description, and ids of its own.

    Parameters
    ----------
    text : str
        An SVG file as Matplotlib writes it.
    title, description : str
        For who cannot see it.
    prefix : str
        Of every id.
    """
    root = ET.fromstring(text)  # noqa: S314 - written by Matplotlib a moment ago, without entities
    _strip(root)
    _rename(root, prefix)
    for element in root.iter():
        _shorten(element)
    size = {name: root.attrib[name].removesuffix("pt") for name in ("width", "height")}
    named = {"role": "img", "aria-labelledby": f"{prefix}-title {prefix}-desc"}
    root.attrib = {**_ROOT, **size, "viewBox": root.attrib["viewBox"], **named, "stroke-linejoin": "round", "stroke-linecap": "butt"}
    root.text = None
    for place, (tag, words) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(tag, {"id": f"{prefix}-{tag}"})
        element.text = words
        root.insert(place, element)
    return ET.tostring(root, encoding="unicode")


def _strip(root: ET.Element) -> None:
    """Leave out metadata and style rules, which would hold for the whole page, and the space between elements."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    for parent in [p for p in root.iter() if p.tag.endswith("}defs") and not len(p)]:
        parent.text = None
    for element in root.iter():
        for space, short in _SPACES.items():
            element.tag = element.tag.replace(space, short)
            element.attrib = {k.replace(space, short): v for k, v in element.attrib.items()}
        element.tail = None
        if element.tag != "text":
            element.text = None


def _rename(root: ET.Element, prefix: str) -> None:
    """Short ids that begin with the prefix, for what is referred to; the others go."""
    used: dict[str, str] = {}

    def new(found: re.Match[str]) -> str:
        return used.setdefault(found[0], f"{prefix}-{len(used)}")

    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "xlink:href" or "url(#" in value:
                element.attrib[name] = _REFERENCE.sub(new, value)
    for element in root.iter():
        old = element.attrib.pop("id", None)
        if old in used:
            element.attrib["id"] = used[old]


def _shorten(element: ET.Element) -> None:
    """Hundredths of a pixel are enough, the reader's own font will do, and what turns by 0 degrees does not turn."""
    for name in element.attrib.keys() & set(_SHAPES):
        element.attrib[name] = _NUMBER.sub(_rounded, element.attrib[name])
    if "style" in element.attrib:
        element.attrib["style"] = _NAMED_FONT.sub("", element.attrib["style"])
    if "transform" in element.attrib:
        turned = _UNTURNED.sub("", element.attrib.pop("transform")).strip()
        element.attrib.update({"transform": turned} if turned else {})


def _rounded(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 2) + 0.0:g}"
