# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nfsclient import compiled
from tests.waiting import AT_MOST

PROGRAM = """
import builtins, sys
from pathlib import Path
from nfsclient import compiled
real, made = compile, []
compiled._compiled = lambda source, name: made.append(name) or real(source, name, "exec", dont_inherit=True)
compiled.keep_in(Path(sys.argv[1]))
from nfsclient.protocol.nfs3 import Getattr3Args
found = Getattr3Args.from_xdr(Getattr3Args(object=b"handle").to_xdr())
assert found.object == b"handle", found
try:
    Getattr3Args.from_xdr(b"\\0\\0\\0\\7handle")
except Exception as error:
    print(type(error).__name__, error)
compiled.save()
print(len(made))
"""


def compiled_by_a_process(file: Path, program: str = PROGRAM) -> tuple[str, int]:
    ended = subprocess.run(
        [sys.executable, "-c", program, str(file)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=AT_MOST,
    )
    *texts, number = ended.stdout.splitlines()
    return "\n".join(texts), int(number)


def test_another_process_compiles_nothing_again_and_does_the_same(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "codes"
    text, first = compiled_by_a_process(file)
    assert first >= 1
    assert compiled_by_a_process(file) == (text, 0)


def test_a_damaged_file_is_ignored_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "codes"
    text, first = compiled_by_a_process(file)
    data = file.read_bytes()
    for wrong in (data[:-1], data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], b"", b"\0" * len(data)):
        file.write_bytes(wrong)
        assert compiled_by_a_process(file) == (text, first)
        assert compiled_by_a_process(file) == (text, 0)


def test_a_file_that_others_may_write_to_is_not_executed(tmp_path: Path) -> None:
    file = tmp_path / "codes"
    text, first = compiled_by_a_process(file)
    file.chmod(0o666)
    assert compiled_by_a_process(file) == (text, first)


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    _, first = compiled_by_a_process(tmp_path / "file" / "codes")
    assert first >= 1


def test_without_a_file_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_KEPT", compiled._Kept())
    assert compiled.code_of("x = 1", "<a text>").co_filename == "<a text>"
    compiled.save()
    assert not compiled._KEPT.used
    compiled.keep_in(tmp_path / "codes")
    compiled.code_of("x = 1", "<a text>")
    compiled.save()
    assert (tmp_path / "codes").stat().st_mode & 0o077 == 0


def test_what_is_no_regular_file_is_neither_waited_for_nor_replaced_in_part(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name in ("fifo", "folder"):
        assert compiled_by_a_process(tmp_path / name)[1] > 0
    assert {path.name for path in tmp_path.iterdir()} <= {"fifo", "folder"}


METHODS = """
import sys
from pathlib import Path
from nfsclient import compiled
real, made = compile, []
compiled._compiled = lambda source, name: made.append(source) or real(source, name, "exec", dont_inherit=True)
compiled.keep_in(Path(sys.argv[1]))
compiled.keep_dataclasses()
from dataclasses import dataclass, field, replace
@dataclass(frozen=True, slots=True, order=True)
class Place:
    host: str
    ports: tuple[int, ...] = (2049,)
    notes: list[str] = field(default_factory=list, compare=False)
first = Place("a")
assert first == Place("a", notes=["other"]) < replace(first, host="b"), first
assert first.notes == [] and first.notes is not Place("a").notes
assert hash(first) == hash(Place("a", (2049,)))
try:
    first.host = "c"
except AttributeError as error:
    print(first, error)
compiled.save()
print(len(made))
"""


def test_methods_of_dataclasses_are_compiled_once_and_do_the_same(tmp_path: Path) -> None:
    text, first = compiled_by_a_process(tmp_path / "codes", METHODS)
    assert text == "Place(host='a', ports=(2049,), notes=[]) cannot assign to field 'host'"
    assert first >= 5
    assert compiled_by_a_process(tmp_path / "codes", METHODS) == (text, 0)
