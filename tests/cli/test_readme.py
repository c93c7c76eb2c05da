# SPDX-License-Identifier: MIT
"""What the README lists, compared with what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nfsclient.errors import UrlError
from nfsclient.url import NfsUrl

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_all_parameters_of_urls_are_in_the_table() -> None:
    with pytest.raises(UrlError) as caught:
        NfsUrl.parse("nfs://h/?nonsense=1")
    known = re.split(", ", str(caught.value).partition("parameters ")[2].partition(", saw")[0])
    table = README.partition("| parameter | meaning |")[2].partition("\n\n")[0]
    listed = {name for row in table.splitlines() for name in re.findall(r"`(\w+)=", row.split(" | ")[0])}
    assert listed == set(known)
