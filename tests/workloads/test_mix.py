# SPDX-License-Identifier: MIT
"""`sfs-like`: its files, its mix in exact numbers, and servers that lie to it."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsclient.protocol import nfs2, nfs3, nfs4
from nfsjudge.verdict import Verdict
from nfsproof import workloading
from nfsproof.workload_carriers import Workers
from nfsserver.server import Server
from tests.workloads.rig import run, run_whole
from workloads.rates.mix import DECK, MIXES, draw_files
from workloads.spec import Order

_SMALL: t.Final[dict[str, t.Any]] = {
    "parameters": {"load": 0.3},
    "duration": 0.4,
    "warmup": 0.0,
    "seed": 3,
    "callers": 1,
}
_NAMES: t.Final = {"fsstat": {"2": "STATFS", "3": "FSSTAT", "4.1": "GETATTR"}}


def _in_version(mix: t.Mapping[str, int], version: str) -> Counter[str]:
    """Calls of a deck by the names of a version."""
    calls: Counter[str] = Counter()
    for name, cards in mix.items():
        called = _NAMES.get(name, {}).get(version, name.upper())
        if version == "4.1":
            called = {"READDIRPLUS": "READDIR", "CREATE": "OPEN"}.get(called, called)
            calls["CLOSE"] += cards * (name == "create")
        calls[called] += cards
    return calls


@pytest.mark.parametrize("version", ["2", "3", "4.1"])
def test_the_mix_is_exact_deck_by_deck(version: str) -> None:
    """One caller: whole decks have each procedure as often as the mix says, and the last deck no more than that."""
    result = run("sfs-like", version=version, **_SMALL)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    mix = _in_version(MIXES[version], version)
    calls = Counter(result.calls)
    units = sum(calls.values()) - calls["CLOSE"]
    decks = units // sum(MIXES[version].values())
    assert set(calls) <= set(mix)
    for name, cards in mix.items():
        assert decks * cards - (name == "CLOSE") <= calls[name] <= (decks + 1) * cards
    assert units - 1 <= result.latency.operations.count <= units


@pytest.mark.parametrize(("version", "cards"), [("2", 100), ("3", 99), ("4.1", 99)])
def test_decks_have_a_card_for_each_per_cent(version: str, cards: int) -> None:
    assert sum(MIXES[version].values()) == cards


def test_a_read_and_a_write_make_the_messages_of_the_paper() -> None:
    """2.4 messages for each operation: two, and two more fragments for each READ and WRITE (section 4.3)."""
    mix = MIXES["2"]
    assert 2 + 2 * (mix["read"] + mix["write"]) / 100 == pytest.approx(2.4, abs=0.03)


@settings(max_examples=40, deadline=None)
@given(st.floats(1.0, 40.0), st.floats(0.05, 1.0), st.integers(1, 16), st.integers(1, 1 << 32))
def test_the_files_are_divided_and_touched_in_part(
    decks: float, share: float, clients: int, seed: int
) -> None:
    total = round(decks * clients * DECK)
    drawn = draw_files(total, share, clients, seed)
    assert sum(drawn.sizes) == total
    assert len(drawn.sizes) <= (total // DECK + 1) * 100
    parts = [list(drawn.of_client(client, clients)) for client in range(clients)]
    assert sum(size for part in parts for size, _ in part) == total
    assert sum(len(part) for part in parts) == len(drawn.sizes)
    assert all(any(is_touched for _, is_touched in part) for part in parts)
    touched = sum(size for part in parts for size, is_touched in part if is_touched)
    assert touched == sum(drawn.sizes[number] for number in drawn.touched)
    assert touched <= round(total * share)
    # What is left is less than the smallest file that could still be added, or large files were too large.
    assert touched >= 0.55 * share * total


@pytest.mark.parametrize("clients", [2, 26, 100])
def test_what_is_touched_does_not_depend_on_the_number_of_clients(clients: int) -> None:
    """The benchmark that this one imitates touched less, the more operations each process made."""
    total = 2000 << 20
    alone = draw_files(total, 0.1, 1, 7)
    assert draw_files(total, 0.1, clients, 7) == alone
    assert sum(alone.sizes[number] for number in alone.touched) == pytest.approx(total / 10, abs=1024)


def test_files_have_the_sizes_of_the_mix() -> None:
    sizes = Counter(draw_files(20 * DECK, 0.1, 1, 5).sizes)
    assert sizes == {
        kib << 10: 20 * count
        for kib, count in (
            (1, 33),
            (2, 21),
            (4, 13),
            (8, 10),
            (16, 8),
            (32, 5),
            (64, 4),
            (128, 3),
            (256, 2),
            (1024, 1),
        )
    }


def test_units_use_no_file_but_those_that_are_touched() -> None:
    seen: set[bytes] = set()

    def prepare(server: Server) -> None:
        def note(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            seen.add(bytes(args.file))
            return proceed(context, args)

        server.interpose(nfs3.READ, note)

    result = run("sfs-like", prepare=prepare, **{**_SMALL, "callers": 3, "duration": 0.8})
    drawn = draw_files(round(0.3 * (10 << 20)), 0.1, 1, 3)
    assert result.checks.bytes >= sum(drawn.sizes[number] for number in drawn.touched)
    assert len(seen) == len(drawn.touched) < len(drawn.sizes)


def _order(**wish: t.Any) -> Order:
    return workloading.order_of(workloading.Wish(workload="sfs-like", workers=Workers(), **wish), None, 1)


def test_the_files_follow_the_rate_of_arrivals() -> None:
    assert _order(arrivals=250.0).parameters["load"] == 250.0
    assert _order(arrivals=250.0, parameters={"load": "3"}).parameters["load"] == 3.0
    assert _order().parameters["load"] == 10.0
    assert (_order().policy, _order().rsize) == ("direct", 8192)


def test_several_clients_and_an_open_loop() -> None:
    more = {**_SMALL, "parameters": {"load": 0.8}, "clients": 3, "arrivals": 300.0}
    result = run("sfs-like", **more)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.latency.lag is not None
    assert 0 < result.latency.operations.count < 300


# ---------------------------------------------------------------- a server that lies

Lie = Callable[[t.Any, t.Any], None]
"""Changes a result, which is a success, from its arguments."""


def _flips_a_byte(result: t.Any, _args: t.Any) -> None:
    data = bytearray(result.data)
    data[len(data) // 2] ^= 1
    result.data = bytes(data)


def _cuts_a_byte(result: t.Any, _args: t.Any) -> None:
    result.data = bytes(result.data)[:-1]
    if hasattr(result, "count"):
        result.count -= 1


def _grows(result: t.Any, _args: t.Any) -> None:
    result.obj_attributes.size += 1


def _loses_an_entry(result: t.Any, _args: t.Any) -> None:
    result.entries = result.entries[:-1]


def _gives_other_text(result: t.Any, _args: t.Any) -> None:
    result.data = b"elsewhere"


_LIES: t.Final[dict[str, tuple[t.Any, Lie]]] = {
    "data": (nfs3.READ, _flips_a_byte),
    "end": (nfs3.READ, _cuts_a_byte),
    "size": (nfs3.GETATTR, _grows),
    "names": (nfs3.READDIR, _loses_an_entry),
    "names with attributes": (nfs3.READDIRPLUS, _loses_an_entry),
    "text": (nfs3.READLINK, _gives_other_text),
}


@pytest.mark.parametrize("about", list(_LIES))
def test_a_lie_is_red(about: str) -> None:
    procedure, lie = _LIES[about]

    def prepare(server: Server) -> None:
        def lies(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            result = proceed(context, args)
            if result.resok is not None:
                lie(result.resok, args)
            return result

        server.interpose(procedure, lies)

    more = {**_SMALL, "duration": 5.0, "lint": 0}
    result = run_whole("sfs-like", prepare=prepare, **more)[0].result  # what is not listed is not removed
    assert result.verdict is Verdict.FAIL, result.reasons


@pytest.mark.parametrize(("version", "write"), [("2", nfs2.WRITE), ("3", nfs3.WRITE), ("4.1", nfs4.WRITE)])
def test_a_write_that_is_lost_is_found_when_all_that_was_touched_is_read(version: str, write: t.Any) -> None:
    """The rate itself need not read that block again."""

    def prepare(server: Server) -> None:
        seen: list[int] = []

        def loses(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            seen.append(1)
            if len(seen) % 200 == 199:  # of the files that are made, most are not touched
                args.data = bytes(len(args.data))
            return proceed(context, args)

        server.interpose(write, loses)

    more = {**_SMALL, "parameters": {"load": 0.3, "touched": 1.0}}
    assert run("sfs-like", prepare=prepare, version=version, **more).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("version", "mutant"),
    [
        ("2", "readlink2-drops-the-last-byte"),
        ("2", "write2-inverts-the-data"),
        ("3", "access3-attributes-of-the-root"),
        ("3", "readdirplus3-attributes-of-another"),
        ("3", "write3-keeps-older-data"),
        ("4.1", "write4-writes-zeros"),
    ],
)
def test_a_mutant_is_red(version: str, mutant: str) -> None:
    outcome, _ = run_whole(
        "sfs-like", version=version, mutants=frozenset({mutant}), **{**_SMALL, "duration": 3.0}
    )
    assert outcome.result.verdict is Verdict.FAIL, outcome.result.reasons
