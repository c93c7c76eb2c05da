# SPDX-License-Identifier: MIT
"""Starts pytest so that checkout and wheel find the same packages, whatever is in the user's folder.

Nothing may import pytest, xdist, `fixtures`, `suites` or `reports` before `put_home_first()` has run: xdist
copies the import path when it is first imported, and other distributions own some of those names.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

_NOTHING = 5
"""`Exit.NOTHING`; this module imports nothing of nfsproof before `put_home_first`."""
PACKAGE = Path(__file__).resolve().parent


def home() -> Path:
    """The folder that holds `fixtures`, `suites` and `reports`: the checkout, or `_home` of a wheel."""
    inside = PACKAGE / "_home"
    return inside if inside.is_dir() else PACKAGE.parent


def is_checkout() -> bool:
    """True when the project's own tests are at hand."""
    return (home() / "tests").is_dir() and (home() / "pyproject.toml").is_file()


def put_home_first() -> Path:
    """Makes the rooms importable ahead of anything else of their names; gives their folder."""
    root = home()
    sys.path[:] = [str(root), *(entry for entry in sys.path if entry not in ("", str(root)))]
    return root


def run_suite(args: Sequence[str]) -> int:
    """pytest over the checks, with the plugin and without the user's own configuration; its exit status."""
    root = _isolate()
    from fixtures import lost_interrupt

    lost_interrupt.watch()
    # Hypothesis keeps a folder of tables even when it stores no examples; by default in the current folder.
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(cache_folder() / "hypothesis"))
    if wants_failed_only(args) and _is_green(_kept_of(args)):
        sys.stderr.write(
            "nfsproof: --lf: no check failed when it last ran on this target, so there is nothing to run\n"
        )
        return _NOTHING
    options = [
        *("-c", str(PACKAGE / "_run" / "pytest.toml")),
        # A conftest of the current folder would be read for a check that has the name of a folder there.
        *("--rootdir", str(root), "--noconftest"),
        *("-p", "xdist.plugin", "-p", "fixtures.plugin", "-p", "nfsproof.selection"),
        *_memory(args),
        *_allure(args),
        *("-rN", "--progress=auto"),
    ]
    return _pytest([*options, *args])


def _allure(args: Sequence[str]) -> list[str]:
    """The plugin allure-pytest, if it is installed, and the command line has its option."""
    is_wanted = any(one.partition("=")[0] == "--alluredir" for one in args)
    return ["-p", "allure_pytest.plugin"] if is_wanted and importlib.util.find_spec("allure_pytest") else []


def _memory(args: Sequence[str]) -> list[str]:
    """Options for what pytest keeps for --lf, --ff and --sw: of each target by itself, in the cache of the user."""
    if "no:cacheprovider" in args:
        return []
    # A cache that cannot be written is no reason to warn: then there is no --lf.
    return ["-o", f"cache_dir={_kept_of(args)}", "-W", "ignore::pytest.PytestCacheWarning"]


def _kept_of(args: Sequence[str]) -> Path:
    """Where pytest keeps which checks failed when they last ran on this target."""
    tested = "\0".join(_what_is_tested(args)).encode("utf-8", "surrogateescape")
    return cache_folder() / "last-runs" / hashlib.sha256(tested).hexdigest()[:16]


def wants_failed_only(args: Sequence[str]) -> bool:
    """--lf, unless the user says what it does if nothing failed."""
    is_decided = any(one.startswith(("--lfnf", "--last-failed-no-failures")) for one in args)
    return not is_decided and not {"--lf", "--last-failed"}.isdisjoint(args)


def _is_green(kept: Path) -> bool:
    """Whether there was a run, and no check failed in it."""
    values = kept / "v" / "cache"
    try:
        has_run = (values / "nodeids").exists()
        # Without such a file no check has failed yet.
        failed = values / "lastfailed"
        return has_run and not (failed.exists() and json.loads(failed.read_bytes()))
    except (OSError, ValueError):
        return False


def _what_is_tested(args: Sequence[str]) -> Iterator[str]:
    """The target among the options, and what makes another server of the embedded one."""
    for number, arg in enumerate(args):
        name, equals, value = arg.partition("=")
        if name in {"--target", "--knob", "--set", "--mutant"}:
            yield name
            yield value if equals else "".join(args[number + 1 : number + 2])


def run_own_tests(args: Sequence[str]) -> int:
    """Run pytest with the checkout's own strict configuration, and return its exit status.

    Unless `args` name a path, it runs all of `tests/`, with a worker for each processor.
    """
    root = _isolate()
    # Of a checkout that is read-only, Hypothesis keeps nothing there.
    kept = root / ".hypothesis" if os.access(root, os.W_OK) else cache_folder() / "hypothesis"
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(kept))
    options = ["-c", str(root / "pyproject.toml"), "--rootdir", str(root), "-p", "xdist.plugin"]
    if not any(Path(arg.partition("::")[0]).exists() for arg in args if not arg.startswith("-")):
        options += [str(root / "tests"), *workers(args)]
    return _pytest([*options, *args])


_MOST_WORKERS = 8
_ALONE = ("-n", "--numprocesses", "--dist", "--pdb", "--trace", "-s", "--capture", "--co", "--setup")
"""Options of pytest that choose the number of workers, or that work without workers only."""


def workers(args: Sequence[str]) -> list[str]:
    """The options for a worker on each processor; none if `args` decide that.

    Neighbours stay with one worker, since tests of a module often share a fixture that takes seconds to set up.
    """
    number = min(os.cpu_count() or 1, _MOST_WORKERS)
    is_decided = number == 1 or any(arg.startswith(_ALONE) for arg in args)
    return [] if is_decided else ["-n", str(number), "--dist", "worksteal"]


def _isolate() -> Path:
    root = put_home_first()
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    # For the workers of xdist: files of the current folder are not modules there either.
    os.environ["PYTHONSAFEPATH"] = "1"
    return root


OWN_HOME = "NFSPROOF_OWN_HOME"
"""Environment variable: the HOME that tests of nfsproof have made for themselves and for all that they start."""
_OF_THE_USER = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
}


def leave_the_home_of_the_user() -> Path:
    """Give this process, and what it starts, an empty HOME and caches there until it ends; the folder.

    Tests of nfsproof neither read nor change what a user keeps. Only servers that were installed on demand are found
    where they are, because nothing but an installation writes there.
    """
    if there := os.environ.get(OWN_HOME):
        return Path(there)
    from nfstargets.cache import PLACE
    from nfstargets.cache import cache_folder as servers

    os.environ[PLACE] = str(servers())
    made = Path(tempfile.mkdtemp(prefix="nfsproof-home-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    os.environ[OWN_HOME] = os.environ["HOME"] = str(made)
    os.environ.update({name: str(made / place) for name, place in _OF_THE_USER.items()})
    return made


def cache_folder() -> Path:
    """Where nfsproof keeps what it can make again."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - never raises
    return Path(base).absolute() / "nfsproof"


def _pytest(args: list[str]) -> int:
    import pytest

    return int(pytest.main(args))
