# SPDX-License-Identifier: MIT
"""The file of an event: its fields, and how each mistake is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsproof.events.file import BadEvent, Event, Known, load_event, parse_event
from nfsproof.events.known import what_is_known

FILE = Path("/nowhere/e.toml")
NAMED = '[[target]]\ntarget = "embedded"\n'
URL = '[[target]]\ntarget = "nfs://host/export"\n'


def _check(word: str) -> None:
    if not word.startswith(("nfs3", "clients")):
        raise LookupError(f"no check has the id {word}")


def _baseline(word: str) -> None:
    if word != "known":
        raise ValueError(f"{word}:3: id: expected stable ids")


KNOWN = Known(
    ("embedded", "ganesha"), ("libnfs", "linux", "command", "program"), ("nfs3", "udp"), _check, _baseline
)


def parsed(text: str) -> Event:
    return parse_event(text, FILE, KNOWN)


def test_everything_that_a_file_may_say() -> None:
    event = parsed(
        """
[event]
name = "Practice"
parallel = 3
format = "zip"
with_logs = true
hide = ["Acme"]

[[target]]
target = "nfs://10.0.0.5/vol/x?uid=0"
label = "Server A"
hide = ["AcmeFS"]
checks = ["nfs3/write", "nfs3/read*"]
baseline = "known"
floor = 100
require = ["udp"]
strict = true
lint = "report"
evidence = "always"
workers = 2
call_timeout = 20
timeout = 3600
lacks = ["nfs3"]
referral = "/moved"

[[target]]
target = "ganesha:mem"

[[target]]
target = "nfs://10.0.0.6/vol"
label = "Server B"

[target.control]
crash = "virsh reset b"
manual = true
timeout = 30
"""
    )
    first, second, third = event.targets
    assert (event.name, event.parallel, event.format, event.with_logs) == ("Practice", 3, "zip", True)
    assert (first.anonymous, second.anonymous) == (True, False)
    assert first.hide == ("Acme", "AcmeFS")
    assert first.words() == [
        *(
            "nfs://10.0.0.5/vol/x?uid=0",
            "nfs3/write",
            "nfs3/read*",
            "--lint",
            "report",
            "--evidence",
            "always",
        ),
        *("--label=Server A", "--baseline=known", "--require", "udp", "-n", "2"),
        *("--call-timeout", "20", "--lacks", "nfs3", "--referral=/moved", "--strict"),
    ]
    assert third.options()[-4:] == [
        "--control=crash=virsh reset b",
        "--control=manual",
        "--control-timeout",
        "30",
    ]
    assert (first.folder, second.folder) == ("Server-A", "ganesha-mem")


def test_a_client_is_a_target_with_its_own_options() -> None:
    first, second, third = parsed(
        """
[[target]]
target = "client:libnfs"
checks = ["clients/lost", "clients/server"]
strict = true
work_timeout = 60
workers = 2

[[target]]
target = "client:command"
label = "Client B"
mount = "mount -t nfs {host}:/export {point}"
umount = "umount {point}"

[[target]]
target = "client:program"
label = "Client C"

[target.program]
read = "nfs-cat {url}"
write = "nfs-cp {file} {url}"
"""
    ).targets
    assert first.words() == [
        *("client:libnfs", "clients/lost", "clients/server", "--evidence", "failure", "-n", "2"),
        *("--work-timeout=60", "--strict"),
    ]
    assert (first.name, first.anonymous, second.anonymous) == ("client:libnfs", False, True)
    assert second.how_it_runs() == [
        "--mount=mount -t nfs {host}:/export {point}",
        "--umount=umount {point}",
    ]
    assert third.how_it_runs() == [
        "--program=read=nfs-cat {url}",
        "--program=write=nfs-cp {file} {url}",
    ]
    assert third.of_client.commands.programs["read"] == ["nfs-cat", "{url}"]


LIBNFS = '[[target]]\ntarget = "client:libnfs"\n'
OF_COMMANDS = '[[target]]\ntarget = "client:command"\n'
OF_PROGRAMS = '[[target]]\ntarget = "client:program"\n'
BOX = '[[target]]\ntarget = "nfs://host/export"\nlabel = "A"\n'

MISTAKES = [
    (
        BOX + "[target.control]\ncrahs = 'x'\n",
        "e.toml:5: crahs: unknown field of [target.control]; there are crash,",
    ),
    (BOX + "[target.control]\ncrash = 1\n", "e.toml:5: crash: expected a text, seen 1"),
    (BOX + "[target.control]\ncrash = ''\n", "e.toml:5: crash: expected crash=COMMAND, got no command"),
    (BOX + "[target.control]\nmanual = 'yes'\n", "e.toml:5: manual: expected true or false, seen 'yes'"),
    (BOX + "[target.control]\nstop = 'x'\n", "e.toml:4: stop requires start: "),
    (BOX + "control = 'manual'\n", "e.toml:4: control: expected a table [target.control]"),
    (BOX + "workers = 2\n[target.control]\nmanual = true\n", "e.toml:4: workers: expected none with control"),
    (
        NAMED + "[target.control]\nmanual = true\n",
        "e.toml:3: control: expected none: nfsproof controls embedded",
    ),
    (BOX + "lacks = ['quota']\n", "e.toml:4: lacks: unknown capability quota; there are nfs3, udp"),
    ("[[target", "e.toml: not TOML"),
    ("", "e.toml: target: expected tables [[target]]"),
    ("target = 1", "e.toml:1: target: expected tables [[target]]"),
    ("event = 1\n" + NAMED, "e.toml:1: event: expected a table [event]"),
    (
        f"[event]\nparalel = 2\n{NAMED}",
        "e.toml:2: paralel: unknown field of [event]; there are name, parallel",
    ),
    (
        f"[event]\nparallel = 0\n{NAMED}",
        "e.toml:2: parallel: expected a number of parallel runs, 1 or",
    ),
    (f"[event]\nparallel = true\n{NAMED}", "e.toml:2: parallel: expected a number"),
    (f"[event]\nparallel = 999\n{NAMED}", "e.toml:2: parallel: expected 64 at most"),
    (f'[event]\nformat = "rar"\n{NAMED}', "e.toml:2: format: expected one of tar.gz, zip, seen 'rar'"),
    ("[[target]]\nlabel = 'A'\n", "e.toml:1: target: expected nfs://HOST/EXPORT or one of embedded, ganesha"),
    ("[[target]]\ntarget = 'nfs://'\n", "e.toml:2: target: "),
    ("[[target]]\ntarget = 'knfsd'\n", "e.toml:2: target: expected nfs://HOST/EXPORT or one of embedded"),
    ("[[target]]\ntarget = '--help'\n", "e.toml:2: target: expected nfs://"),
    (URL, "e.toml:1: label: expected a label: the URL would name the host"),
    (NAMED + "label = 3\n", "e.toml:3: label: expected a text, seen 3"),
    (NAMED + "colour = 'red'\n", "e.toml:3: colour: unknown field of [[target]]"),
    (NAMED + NAMED + "checks = ['nfs9']\n", "e.toml:5: checks: no check has the id nfs9"),
    (NAMED + "checks = 'nfs3'\n", "e.toml:3: checks: expected a list of texts, seen 'nfs3'"),
    (NAMED + "checks = ['-x']\n", "e.toml:3: checks: expected names, seen the option '-x'"),
    (NAMED + "baseline = 'mine.toml'\n", "e.toml:3: baseline: mine.toml:3: id: expected stable ids"),
    (NAMED + "require = ['quota']\n", "e.toml:3: require: unknown capability quota; there are nfs3, udp"),
    (NAMED + "floor = -1\n", "e.toml:3: floor: expected a number of checks, 0 or more, seen -1"),
    (NAMED + "timeout = 1.5\n", "e.toml:3: timeout: expected seconds"),
    (NAMED + "strict = 'yes'\n", "e.toml:3: strict: expected true or false, seen 'yes'"),
    (NAMED + "lint = 'maybe'\n", "e.toml:3: lint: expected one of fail, report, off"),
    (NAMED + NAMED, "e.toml:3: label: 'embedded' and the label at line 1 need the same folder embedded"),
    (
        "target = [{target = 'embedded', label = 'a'}, {target = 'embedded', label = 'A'}]",
        "e.toml: label: 'A' and 'a'",
    ),
    (NAMED + "label = 'board.html'\n", "e.toml:3: label: expected a different label, seen 'board.html'"),
    (NAMED + "label = 'A.tar.gz'\n", "e.toml:3: label: expected a different label, seen 'A.tar.gz'"),
    (NAMED + f"label = '{'x' * 101}'\n", "e.toml:3: label: expected 100 characters at most, seen 101"),
    (NAMED + 'label = "a\\u0000b"\n', "e.toml:3: label: expected printable characters"),
    (NAMED + 'label = "a\\u202eb"\n', "e.toml:3: label: expected printable characters"),
    ('[[target]]\ntarget = "ganesha:\\u0000"\n', "e.toml:2: target: expected nfs://HOST/EXPORT"),
    (NAMED + "workers = 65\n", "e.toml:3: workers: expected 64 at most, seen 65"),
    ("[[target]]\ntarget = 'client:libfns'\n", "e.toml:2: target: unknown client 'libfns'"),
    ("[[target]]\ntarget = 'client:'\n", "e.toml:2: target: unknown client ''"),
    (LIBNFS + "lacks = ['udp']\n", "e.toml:3: lacks: expected none: client:libnfs is a client"),
    (LIBNFS + "require = ['udp']\n", "e.toml:3: require: expected none: client:libnfs is a client"),
    (LIBNFS + "lint = 'off'\n", "e.toml:3: lint: expected none: client:libnfs is a client"),
    (LIBNFS + "call_timeout = 3\n", "e.toml:3: call_timeout: expected none: client:libnfs is a client"),
    (
        LIBNFS + "[target.control]\ncrash = 'x'\n",
        "e.toml:3: control: expected none: client:libnfs is a client",
    ),
    (LIBNFS + "checks = ['nfs3/null']\n", "e.toml:3: checks: expected checks of clients (clients/...), seen"),
    (
        NAMED + "checks = ['clients/lost']\n",
        "e.toml:3: checks: expected checks of servers, seen 'clients/lost'",
    ),
    (NAMED + "mount = 'x'\n", "e.toml:3: mount: expected none: embedded is a server"),
    (NAMED + "work_timeout = 3\n", "e.toml:3: work_timeout: expected none: embedded is a server"),
    (NAMED + "[target.program]\nread = 'x'\n", "e.toml:3: program: expected none: embedded is a server"),
    (LIBNFS + "mount = 'x'\n", "e.toml:3: mount: expected none: nfsproof starts client:libnfs itself"),
    (LIBNFS + "work_timeout = -1\n", "e.toml:3: work_timeout: expected seconds, 0 or more, seen -1"),
    (OF_COMMANDS, "e.toml:1: mount: client:command needs it (docs/clients.md)"),
    (OF_COMMANDS + "mount = 'x'\n", "e.toml:1: umount: client:command needs it"),
    (OF_COMMANDS + "mount = 'x'\numount = \"y '\"\n", 'e.toml:4: umount: "y \'": No closing quotation'),
    (OF_PROGRAMS, "e.toml:1: program: client:program needs it"),
    (OF_PROGRAMS + "program = 'x'\n", "e.toml:3: program: expected a table [target.program]"),
    (OF_PROGRAMS + "[target.program]\nraed = 'x'\n", "e.toml:4: raed: expected one of read, write, names,"),
    (OF_PROGRAMS + "[target.program]\nread = 1\n", "e.toml:4: read: expected a text, seen 1"),
    (OF_PROGRAMS + "[target.program]\nread = 'cat {ulr}'\n", "e.toml:4: read: {ulr} is not known; there are"),
    (NAMED + "label = 'a b'\n" + NAMED + "label = 'A/b'\n", "e.toml:6: label: 'A/b' and the label at line 1"),
]


@pytest.mark.parametrize(
    ("text", "message"),
    MISTAKES,
    ids=[f"{number} {message[:40]}" for number, (_, message) in enumerate(MISTAKES)],
)
def test_a_mistake_is_reported_with_line_and_field(text: str, message: str) -> None:
    with pytest.raises(BadEvent) as caught:
        parsed(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(NAMED, encoding="utf-8-sig")
    assert load_event(file, KNOWN).targets[0].target == "embedded"


@given(st.text(max_size=200))
def test_any_text_is_an_event_or_refused(text: str) -> None:
    for hostile in (text, NAMED + text, f"{NAMED}label = {text!r}"):
        try:
            parsed(hostile)
        except BadEvent:
            continue


def test_names_of_the_suite_are_known() -> None:
    known = what_is_known()
    known.check("nfs3/write")
    with pytest.raises(LookupError, match="similar: "):
        known.check("nfs3/wirte")
    assert {"embedded", "ganesha"} <= set(known.targets)
    assert {"libnfs", "linux", "command", "program"} <= set(known.clients)
