# SPDX-License-Identifier: MIT
"""Shapes of SVG: text only, no scripts, no styles, nothing loaded; what a target sent is escaped.

Lines and letters have the colour of the text around them, so that the same SVG stands in a light and a dark page.
"""

from __future__ import annotations

import typing as t
from xml.etree import ElementTree as ET

from reports.plain import legal_in_xml, printable

WIDTH = 920
EDGE = 8


def drawing(bottom: int, title: str, description: str, width: int = WIDTH) -> ET.Element:
    """An empty picture down to `bottom`, with what a screen reader says of it."""
    height = bottom + EDGE
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "role": "img",
            "aria-label": title,
            "viewBox": f"0 0 {width} {height}",
            "width": str(width),
            "height": str(height),
            "fill": "currentColor",
            "font-family": "system-ui, sans-serif",
            "font-size": "12",
        },
    )
    add_title(svg, title)
    ET.SubElement(svg, "desc").text = _safe(description)
    return svg


def add_title(parent: ET.Element, text: str) -> None:
    ET.SubElement(parent, "title").text = _safe(text)


def add_text(parent: ET.Element, x: float, y: float, text: str, kind: str, *, anchor: str = "start") -> None:
    place = attributes({"class": kind, "x": x, "y": y, "text-anchor": anchor})
    ET.SubElement(parent, "text", place).text = _safe(text)


def add_line(
    parent: ET.Element,
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    kind: str,
    *,
    width: str = "1",
    opacity: str,
) -> None:
    ends = {"class": kind, "x1": x1, "y1": y1, "x2": x2, "y2": y2}
    ink = {"stroke": "currentColor", "stroke-width": width, "stroke-opacity": opacity}
    ET.SubElement(parent, "line", attributes(ends | ink))


def attributes(values: dict[str, t.Any]) -> dict[str, str]:
    """Numbers as text, without zeros that say nothing."""
    return {key: f"{value:g}" if isinstance(value, float) else str(value) for key, value in values.items()}


def _safe(text: str) -> str:
    """ElementTree escapes; what XML cannot carry, and what cannot be seen, is made visible before."""
    return legal_in_xml(printable(text))


def written(svg: ET.Element) -> str:
    return ET.tostring(svg, encoding="unicode")
