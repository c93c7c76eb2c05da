# SPDX-License-Identifier: MIT
"""Which of the words after `nfsproof run` is the target."""

from __future__ import annotations

import pytest

from nfsproof.arguments import ArgumentError, split_target

NAMED = ("embedded", "ganesha")


@pytest.mark.parametrize(
    ("words", "target", "rest"),
    [
        ([], None, []),
        (["nfs://h/e"], "nfs://h/e", []),
        (["embedded"], "embedded", []),
        (["ganesha:mem", "-x"], "ganesha:mem", ["-x"]),
        (["nfs3/write", "-n", "2"], None, ["nfs3/write", "-n", "2"]),
        (["-n", "2", "nfs3/write", "nfs://h/e"], "nfs://h/e", ["-n", "2", "nfs3/write"]),
        (["-k", "embedded"], None, ["-k", "embedded"]),
        (["suites/nfs3/test_write.py::test_a"], None, ["suites/nfs3/test_write.py::test_a"]),
    ],
    ids=["nothing", "url", "name", "choice", "checks", "url-last", "name-as-value", "node-id"],
)
def test_the_target_is_taken_out(words: list[str], target: str | None, rest: list[str]) -> None:
    assert split_target(words, NAMED) == (target, rest)


def test_the_option_is_the_target_whatever_it_says() -> None:
    assert split_target(["nfs3"], NAMED, "something") == ("something", ["nfs3"])


def test_two_targets_are_one_too_many() -> None:
    with pytest.raises(ArgumentError, match="embedded, nfs://h/e"):
        split_target(["embedded", "nfs://h/e"], NAMED)


@pytest.mark.parametrize(
    ("word", "url"),
    [
        ("server:/data", "nfs://server/data"),
        ("[::1]:/", "nfs://[::1]/"),
        ("::1:/e", "nfs://[::1]/e"),
        ("[fe80::1%eth0]:/e", "nfs://[fe80::1%25eth0]/e"),
        ("ganesha:/e?nfsport=1", "nfs://ganesha/e?nfsport=1"),
    ],
    ids=["name", "ipv6", "ipv6-without-brackets", "ipv6-with-zone", "name-of-a-target"],
)
def test_the_syntax_of_mount_is_translated(word: str, url: str) -> None:
    assert split_target(["nfs3", word], NAMED) == (url, ["nfs3"])
    assert split_target([], NAMED, word) == (url, [])


@pytest.mark.parametrize("word", ["nfs:/foo", "nfs:foo", "nfs:///foo", "NFS:/foo"])
def test_a_scheme_is_no_host(word: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{word} has no host; write nfs://HOST/foo$"):
        split_target([word], NAMED)
