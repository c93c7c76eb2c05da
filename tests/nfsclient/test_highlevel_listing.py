# SPDX-License-Identifier: MIT
"""Listing: pages, cookies and their verifier, restarts, what servers withhold, and the skimming of replies."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.errors import NfsStatusError, XdrError
from nfsclient.highlevel import EndlessListing, NoProgress
from nfsclient.listings import ListingBounds
from nfsclient.protocol import nfs3 as p
from nfsclient.xdr import replace
from tests.nfsclient.conftest import Stage

NAMES = [f"file-{number:03}" for number in range(100)]
OK = p.Nfsstat3.NFS3_OK


@pytest.fixture
def full(stage: Stage) -> Stage:
    """A directory with a hundred files, and small pages."""
    for name in NAMES:
        stage.client.session.nfs.create(stage.root, name.encode())
    stage.limit(page=1024)
    return stage


def bad_cookie_plus(*_: object) -> p.Readdirplus3Res:
    return p.Readdirplus3Res(p.Nfsstat3.NFS3ERR_BAD_COOKIE, resfail=p.Readdirplus3ResFail())


def plainly(args: t.Any, proceed: t.Any) -> t.Any:
    return proceed(args)


class TestPages:
    def test_names_come_once_each_from_many_pages(self, full: Stage) -> None:
        full.watch(p.READDIR)
        assert full.client.listdir() == NAMES
        calls = full.called("READDIR")
        assert len(calls) > 3
        assert {args.count for args in calls} == {1024}

    def test_entries_have_attributes_and_handles(self, full: Stage) -> None:
        entries = list(full.client.scan())
        assert [entry.name.decode() for entry in entries] == NAMES
        assert all(entry.attributes.fileid == entry.fileid for entry in entries if entry.attributes)
        assert len({entry.handle for entry in entries}) == 100

    def test_each_page_is_requested_with_the_verifier_of_the_last(self, full: Stage) -> None:
        verf = iter(range(100, 1000))
        asked: list[tuple[int, bytes]] = []
        given_out: list[tuple[int, bytes]] = [(0, bytes(8))]
        servers_own = [bytes(8)]

        def renumber(args: p.Readdirplus3Args, proceed: t.Any) -> t.Any:
            asked.append((args.cookie, args.cookieverf))
            reply = proceed(replace(args, cookieverf=servers_own[-1]))
            servers_own.append(reply.resok.cookieverf)
            reply.resok.cookieverf = next(verf).to_bytes(8, "big")
            given_out.append((reply.resok.entries[-1].cookie, reply.resok.cookieverf))
            return reply

        full.script(p.READDIRPLUS, *[renumber] * 100)
        assert len(list(full.client.scan())) == 100
        assert asked == given_out[:-1]

    def test_the_next_page_is_under_way_when_the_first_entry_is_given(self, full: Stage) -> None:
        entries = full.client.scan()
        next(entries)
        assert len(full.client.session.rpc.core.pending) == 1
        assert len(list(entries)) == 99

    def test_calls_in_between_do_no_harm(self, full: Stage) -> None:
        seen = []
        for entry in full.client.scan():
            full.client.stat(entry.name)
            seen.append(entry.name.decode())
        assert seen == NAMES

    def test_a_listing_that_is_given_up_leaves_nothing(self, full: Stage) -> None:
        entries = full.client.scan()
        next(entries)
        entries.close()  # type: ignore[attr-defined]
        assert not full.client.session.rpc.core.pending
        assert full.client.listdir() == NAMES

    def test_a_last_page_may_be_empty(self, full: Stage) -> None:
        def never_yet(args: p.Readdir3Args, proceed: t.Any) -> t.Any:
            reply = proceed(args)
            if reply.resok.entries:
                reply.resok.eof = False
            return reply

        full.script(p.READDIR, *[never_yet] * 100)
        assert full.client.listdir() == NAMES

    def test_a_recorder_sees_decoded_pages(self, full: Stage) -> None:
        seen: list[t.Any] = []
        full.client.session.rpc.on_exchange = seen.append
        assert full.client.listdir() == NAMES
        assert all(each.procedure is p.READDIR for each in seen)
        assert all(isinstance(each.result, p.Readdir3Res) for each in seen)


class TestTrouble:
    def test_a_bad_cookie_starts_over_without_repeating(self, full: Stage) -> None:
        full.script(p.READDIRPLUS, plainly, plainly, bad_cookie_plus, plainly, bad_cookie_plus)
        assert [entry.name.decode() for entry in full.client.scan()] == NAMES

    def test_cookies_that_are_always_bad_are_given_up(self, full: Stage) -> None:
        full.script(p.READDIRPLUS, *[plainly, bad_cookie_plus] * 100)
        with pytest.raises(NfsStatusError) as caught:
            list(full.client.scan())
        assert (caught.value.status, caught.value.procedure) == (10003, "READDIRPLUS")

    def test_without_readdirplus_the_entries_have_names_only(self, full: Stage) -> None:
        refusal = p.Readdirplus3Res(p.Nfsstat3.NFS3ERR_NOTSUPP, resfail=p.Readdirplus3ResFail())
        full.script(p.READDIRPLUS, refusal)
        entries = list(full.client.scan())
        assert [entry.name.decode() for entry in entries] == NAMES
        assert {(entry.attributes, entry.handle) for entry in entries} == {(None, None)}

    def test_jukebox_is_waited_for(self, full: Stage) -> None:
        refusal = p.Readdir3Res(p.Nfsstat3.NFS3ERR_JUKEBOX, resfail=p.Readdir3ResFail())
        full.script(p.READDIR, refusal, refusal, plainly, refusal)
        assert full.client.listdir() == NAMES
        assert full.pauses.waited == [0.05, 0.1, 0.05]

    def test_an_empty_page_that_is_not_the_end_is_given_up(self, full: Stage) -> None:
        empty = p.Readdir3Res(OK, p.Readdir3ResOk(None, bytes(8), [], False))
        full.script(p.READDIR, plainly, empty)
        with pytest.raises(NoProgress, match="no entries and no end"):
            full.client.listdir()

    @pytest.mark.parametrize("procedure", [p.READDIR, p.READDIRPLUS])
    def test_a_cookie_that_stays_the_same_is_an_endless_listing(self, full: Stage, procedure: t.Any) -> None:
        def stuck(args: t.Any, proceed: t.Any) -> t.Any:
            reply = proceed(replace(args, cookie=0, cookieverf=bytes(8)))
            reply.resok.entries[-1].cookie, reply.resok.cookieverf = 42, bytes(8)
            return reply

        full.script(procedure, *[stuck] * 10)
        listing = full.client.listdir if procedure is p.READDIR else lambda: list(full.client.scan())
        with pytest.raises(EndlessListing, match=r"does not come to an end: after \d+ entries a cookie is"):
            listing()
        assert not full.client.session.rpc.core.pending

    def test_names_without_end_end_at_the_bound_of_the_caller(self, full: Stage) -> None:
        cookies = iter(range(1000, 10**6))

        def more(args: p.Readdir3Args, proceed: t.Any) -> t.Any:
            reply = proceed(replace(args, cookie=0, cookieverf=bytes(8)))
            reply.resok.entries[-1].cookie = next(cookies)
            return reply

        full.client.listing_bounds = ListingBounds(250)
        full.script(p.READDIR, *[more] * 200)
        with pytest.raises(
            EndlessListing,
            match=r"after 2\d\d entries in \d+ pages, \d+ bytes of names and .* raise listing_bounds.entries",
        ):
            full.client.listdir()

    def test_the_caller_may_raise_the_bound(self, full: Stage) -> None:
        full.client.listing_bounds = ListingBounds(50)
        with pytest.raises(EndlessListing):
            list(full.client.scan())
        full.client.listing_bounds = ListingBounds(200)
        assert len(list(full.client.scan())) == 100

    def test_an_error_is_typed(self, full: Stage) -> None:
        refusal = p.Readdir3Res(p.Nfsstat3.NFS3ERR_ACCES, resfail=p.Readdir3ResFail())
        full.script(p.READDIR, plainly, refusal)
        with pytest.raises(PermissionError):
            full.client.listdir()

    def test_a_malformed_page_is_the_decoders_error(self, full: Stage) -> None:
        def renamed(args: p.Readdir3Args, proceed: t.Any) -> t.Any:
            reply = proceed(args)
            reply.resok.eof = 7  # not a boolean; the encoder of a bool writes what it is given
            return Raw(reply)

        full.script(p.READDIR, plainly, renamed)
        with pytest.raises(XdrError):
            full.client.listdir()


class Raw:
    """A reply with a boolean that is none."""

    resok = None

    def __init__(self, reply: p.Readdir3Res) -> None:
        assert reply.resok is not None
        reply.resok.eof = True
        self._wire = reply.to_xdr()[:-4] + b"\0\0\0\7"

    def pack(self, out: list[t.Any]) -> None:
        out.append(self._wire)
