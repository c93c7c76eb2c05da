# SPDX-License-Identifier: MIT
"""The view of studies of `nfsproof sensitivity` on the board: curves by knob, the laws, and the numbers to download.

Pictures stand side by side where the window is wide enough, and below each other where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from reports.board.charts import drawing
from reports.board.safe import visible, visible_line
from reports.workloads.inferred import model_text
from reports.workloads.studied import study_text
from reports.workloads.study_charts import study_chart, study_panels
from workloads.sensitivity import study as studies
from workloads.sensitivity.curves import FEWEST
from workloads.sensitivity.inferring import Inferred, infer
from workloads.sensitivity.study import Setting, Study
from workloads.trouble import Refused


@dataclass(frozen=True, slots=True)
class StudyView:
    """A study as the template shows it: text that is safe in HTML once it is escaped."""

    title: str
    tagline: str
    text: str
    panels: list[tuple[str, Markup]]
    csv: str
    """A data URL, as `svg`; empty if there is nothing."""
    svg: str
    is_study: bool = True


def view_of_study(study: Study) -> StudyView:
    """The view of a study. The model is drawn where scipy is installed, and base has points enough."""
    inferred = _inferred(study)
    model = None if inferred is None else inferred.server
    text = study_text(study) + ("" if inferred is None else f"\n{model_text(inferred)}")
    picture = study_chart(study, model)
    sheet = "\n".join(studies.sheet(study)) + "\n"
    return StudyView(
        title=visible_line(f"sensitivity of {study.target}"),
        tagline=visible_line(f"NFSv{study.version} over {study.transport}, {len(study.points)} points"),
        text=visible(text),
        panels=[
            (visible_line(title), Markup(drawing(svg)))  # noqa: S704  rebuilt
            for title, svg in study_panels(study, model)
        ],
        csv=f"data:text/csv;charset=utf-8,{quote(sheet)}",
        svg=f"data:image/svg+xml;charset=utf-8,{quote(picture)}" if picture else "",
    )


def views_of_studies(found: Sequence[Study]) -> list[StudyView]:
    """A view for each."""
    return [view_of_study(each) for each in found]


def _inferred(study: Study) -> Inferred | None:
    curve = studies.mean_curve(study, Setting())
    if len(curve) < FEWEST:
        return None
    try:
        return infer(curve)
    except Refused:
        return None
