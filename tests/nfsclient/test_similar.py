# SPDX-License-Identifier: MIT
"""Near matches of names, and the messages that show them."""

from __future__ import annotations

import pytest

from nfsclient.similar import similar, similar_text
from nfsmutants import UnknownMutant, find_mutant
from nfsproof.installing import InstallError, install_by_name
from nfsserver import BadKnob, parse_setting
from nfstargets import TargetError, make_target


def test_case_does_not_matter_and_names_keep_theirs() -> None:
    assert similar("nfs3/wrote", ["nfs3/WRITE", "mount"]) == ["nfs3/WRITE"]


def test_the_text_has_the_near_names_or_the_advice() -> None:
    assert similar_text("ganehsa", ["ganesha", "embedded"]) == "; similar: ganesha"
    assert similar_text("xyz", ["ganesha"], "nothing is near") == "; nothing is near"
    assert similar_text("xyz", ["ganesha"]) == ""


def test_a_wrong_mutant() -> None:
    with pytest.raises(UnknownMutant, match="; similar: write3-reports-more-than-sent"):
        find_mutant("write3-report-more-than-sent")


def test_a_wrong_knob() -> None:
    with pytest.raises(BadKnob, match="'write_acepts'; similar: write_accepts"):
        parse_setting("write_acepts=1")


def test_a_wrong_target() -> None:
    with pytest.raises(TargetError, match="'ganehsa:mem'; similar: ganesha"):
        make_target("ganehsa:mem")


def test_a_wrong_server_to_install() -> None:
    with pytest.raises(InstallError, match="; similar: fernfs"):
        install_by_name("fernf", print)
