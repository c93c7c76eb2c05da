# SPDX-License-Identifier: MIT
"""Starts pytest so that checkout and wheel find the same packages, whatever is in the user's folder.

Nothing may import pytest, xdist, `fixtures`, `suites` or `reports` before `put_home_first()` has run: xdist
copies the import path when it is first imported, and other distributions own some of those names.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import importlib.util
import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_NOTHING = 5
"""`Exit.NOTHING`; this module imports nothing of nfsproof before `put_home_first`."""
PACKAGE = Path(__file__).resolve().parent


def home() -> Path:
    """The folder that holds `fixtures`, `suites`, `reports` and `workloads`: the checkout, or `_home` of a wheel."""
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
    collect_rarely()
    root = _isolate()
    keep_code()
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
        *(
            "-p",
            "nfsproof.beginning",
            "-p",
            "xdist.plugin",
            "-p",
            "fixtures.plugin",
            "-p",
            "nfsproof.selection",
        ),
        *_memory(args),
        *_allure(args),
        *_without_unused(args),
        *("-rN", "--progress=auto"),
    ]
    _import_before_pytest()
    import pytest

    # A cache that cannot be written is no reason to warn: then there is no --lf.
    warnings.simplefilter("ignore", pytest.PytestCacheWarning)
    return _pytest([*options, *args])


def collect_rarely() -> None:
    """Let Python's collector look for garbage less often: what a run imports and makes is kept to its end.

    Until the checks are collected it does not look at all (`fixtures.plugin.garbage` lets it).
    """
    gc.set_threshold(*_RARELY)
    gc.disable()


def keep_code(use: str = "codecs") -> None:
    """Compile nothing again that an earlier run of this user has generated: codecs, and methods of dataclasses.

    To be called before a module that has such is imported. `nfsclient.compiled.save` keeps what was new.
    """
    from nfsclient import compiled

    compiled.keep_in(cache_folder() / compiled.name_of(use))
    compiled.keep_dataclasses()


def _import_before_pytest() -> None:
    """What each run imports of rooms without assertions to rewrite: else pytest looks at each module whether it has."""
    for name in _OF_EACH_RUN:
        importlib.import_module(name)


_RARELY = (20_000, 20, 50)
"""Thresholds of Python's collector."""
_OF_EACH_RUN = (
    "nfsclient.clients.nfs4",
    "nfsclient.discovery.nfs4",
    "nfsclient.files.v2",
    "nfsclient.files.v3",
    "nfsclient.files.v4",
    "nfsclient.replay.nfs4",
    "nfsjudge.captured.traffic",
    "nfsjudge.duplicates",
    "nfsjudge.lint",
    "nfsjudge.reproduce",
    "nfstargets.clients",
    "nfstargets.control",
    "nfstargets.embedded",
    "nfstargets.keeper",
    "nfstargets.tap",
    "reports.baseline",
    "reports.causes",
    "reports.floor",
)
_UNUSED: Mapping[str, tuple[str, ...]] = {
    "doctest": ("--doctest",),
    "junitxml": ("--junit", "junit_"),
    "legacypath": (),
    "logging": ("--log-", "log_"),
    "pastebin": ("--pastebin",),
    "recwarn": (),
    "setuponly": ("--setup",),
    "setupplan": ("--setup",),
    "subtests": (),
    "threadexception": (),
    "unittest": (),
    "unraisableexception": (),
    "warnings": ("-W", "--pythonwarnings", "filterwarnings"),
}
"""Plugins of pytest that cost every check time and that no check uses, with the options that need them."""
_OWN_OPTIONS = ("--log-wire",)
_ABOUT_OPTIONS = frozenset(
    {"-h", "--help", "--fixtures", "--fixtures-per-test", "--markers", "--version", "-VV"}
)


def _without_unused(args: Sequence[str]) -> Iterator[str]:
    """Options that switch off the plugins of pytest that the command line does not ask for."""
    if not _ABOUT_OPTIONS.isdisjoint(args):
        return
    asking = [arg for arg in args if not arg.startswith(_OWN_OPTIONS)]
    for name, options in _UNUSED.items():
        if not any(arg.startswith(options) for arg in asking if options):
            yield from ("-p", f"no:{name}")


def _allure(args: Sequence[str]) -> list[str]:
    """The plugin allure-pytest, if it is installed, and the command line has its option."""
    is_wanted = any(argument.partition("=")[0] == "--alluredir" for argument in args)
    return ["-p", "allure_pytest.plugin"] if is_wanted and importlib.util.find_spec("allure_pytest") else []


def _memory(args: Sequence[str]) -> list[str]:
    """Options for what pytest keeps for --lf, --ff and --sw: of each target by itself, in the cache of the user."""
    if "no:cacheprovider" in args:
        return []
    return ["-o", f"cache_dir={_kept_of(args)}"]


def _kept_of(args: Sequence[str]) -> Path:
    """Where pytest keeps which checks failed when they last ran on this target."""
    import hashlib  # not for `doctor`, nor for help

    tested = "\0".join(_what_is_tested(args)).encode("utf-8", "surrogateescape")
    return cache_folder() / "last-runs" / hashlib.sha256(tested).hexdigest()[:16]


def wants_failed_only(args: Sequence[str]) -> bool:
    """--lf, unless the user says what it does if nothing failed."""
    is_decided = any(argument.startswith(("--lfnf", "--last-failed-no-failures")) for argument in args)
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

    Unless `args` name a path, it runs all of `tests/`, with the workers of `workers`.
    """
    root = _isolate()
    # Of a checkout that is read-only, Hypothesis keeps nothing there.
    kept = root / ".hypothesis" if os.access(root, os.W_OK) else cache_folder() / "hypothesis"
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(kept))
    options = ["-c", str(root / "pyproject.toml"), "--rootdir", str(root), "-p", "xdist.plugin"]
    if any(arg.startswith("--hypothesis-") for arg in args):
        options += ["-p", "_hypothesis_pytestplugin"]
    if not any(Path(arg.partition("::")[0]).exists() for arg in args if not arg.startswith("-")):
        options += [str(root / "tests"), *workers(args)]
    return _pytest([*options, *args])


_MOST_WORKERS = 8
_ALONE = ("-n", "--numprocesses", "--dist", "--pdb", "--trace", "-s", "--capture", "--co", "--setup")
"""Options of pytest that choose the number of workers, or that work without workers only."""


def workers(args: Sequence[str]) -> list[str]:
    """The options for three workers for two processors, at most 8; none if `args` decide that.

    A third of the time of a test is spent on waiting: for time limits of its server, or of the run that it tests.
    Neighbours stay with one worker, since tests of a module often share a fixture that takes seconds to set up.
    """
    number = min((os.cpu_count() or 1) * 3 // 2, _MOST_WORKERS)
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
    import shutil
    import tempfile

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
