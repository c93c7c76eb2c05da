# SPDX-License-Identifier: MIT
"""Drawings in the board: only what draws is let through, whatever the text of an SVG holds."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from reports.board.safe import visible

_SVG = "{http://www.w3.org/2000/svg}"
# fmt: off
_ELEMENTS = frozenset(
    (
        "svg", "g", "path", "rect", "line", "circle", "ellipse", "polyline", "polygon", "text", "tspan",
        "title", "desc",
    )
)
_ATTRIBUTES = frozenset(
    (
        "class", "cx", "cy", "d", "dx", "dy", "fill", "fill-opacity", "font-family", "font-size",
        "font-weight", "height", "opacity", "points", "preserveAspectRatio", "r", "rx", "ry", "role",
        "stroke", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "stroke-opacity", "stroke-width",
        "text-anchor", "dominant-baseline", "transform", "viewBox", "width", "x", "x1", "x2", "y", "y1",
        "y2", "aria-label", "aria-hidden",
    )
)
# fmt: on
_ELSEWHERE = re.compile(r"url\s*\(|:\s*//|javascript:", re.IGNORECASE)


class BadDrawing(ValueError):
    """A text that is no SVG that can be shown."""


def drawing(svg: str) -> str:
    """The SVG rebuilt from elements and attributes that draw; everything else is dropped. Raises `BadDrawing`."""
    if "<!" in svg.replace("<!--", ""):
        raise BadDrawing("expected an SVG without document type and entities")
    try:
        root = ET.fromstring(svg)  # noqa: S314  no entities: refused above
    except ET.ParseError as error:
        raise BadDrawing(f"expected a well-formed SVG: {error}") from error
    clean = _clean(root)
    if clean is None or clean.tag != "svg":
        raise BadDrawing(f"the outermost element is {root.tag!r}, svg was expected")
    return ET.tostring(clean, encoding="unicode", short_empty_elements=False)


def _clean(element: ET.Element) -> ET.Element | None:
    name = str(element.tag).removeprefix(_SVG)
    if name not in _ELEMENTS:
        return None
    attributes = {
        key: visible(value)
        for key, value in element.attrib.items()
        if key in _ATTRIBUTES and not (_ELSEWHERE.search(value))
    }
    copy = ET.Element(name, attributes)
    copy.text, copy.tail = _text(element.text), _text(element.tail)
    for child in element:
        clean = _clean(child)
        if clean is not None:
            copy.append(clean)
    return copy


def _text(text: str | None) -> str | None:
    return visible(text) if text is not None else None
