# SPDX-License-Identifier: MIT
"""`nfsproof workload run`: from words of the command line to a run on a target, and its result."""

from __future__ import annotations

import contextlib
import signal
import sys
import tempfile
import typing as t
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from nfsclient.rpc.loop import Loop
from nfsjudge.verdict import Verdict
from nfsproof import __version__
from nfsproof.exits import Exit, Trouble
from nfsproof.signals import handled, interruptible
from nfsproof.workload_carriers import Workers, carrier_of, reached, require_spread
from nfstargets import Target, TargetAddress, TargetError, make_target
from nfstargets.embedded import EmbeddedTarget
from workloads import catalog
from workloads import result as results
from workloads.carriers.crew import Reach
from workloads.clients import Link
from workloads.mountstats import counts_calls, read_counts
from workloads.policies import DIRECT, POLICIES
from workloads.result import Result
from workloads.running import About, Carrier, Outcome, carry_out
from workloads.safety import Limits, new_directory, require_room, require_room_below, require_within, shown
from workloads.served import ask_counts
from workloads.spec import (
    MOST_OVER_UDP,
    MOST_READ,
    SPRITELY,
    UDP_VERSIONS,
    VERSIONS,
    Order,
    Workload,
    title_of,
)
from workloads.trouble import Refused, Stopped
from workloads.worker import CAPTURES

Say: t.TypeAlias = Callable[[str], None]
_LINT_OF_RATES: t.Final = 16
_OF_DIRECT: t.Final = {
    True: f"imitates no client: its policy is {DIRECT}",
    False: f"needs a client, and {DIRECT} is none",
}
_SIGNALS: t.Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user wants; None where the workload decides."""

    workload: str
    target: str = ""
    mount: str = ""
    client: str = ""
    """"linux": the programs run in a guest of Linux that mounts the embedded server."""
    counts: str = ""
    """With `mount`: HOST:PORT of `nfsproof serve --counts`."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    policy: str | None = None
    version: str | None = None
    transport: str | None = None
    """None: that of the target, which is TCP but for URLs with ?proto=udp."""
    rsize: int | None = None
    wsize: int | None = None
    page: int = 8192
    stable: str | None = None
    plus: bool = True
    window: int | None = None
    clients: int | None = None
    connections: int = 1
    callers: int | None = None
    duration: float = 10.0
    warmup: float = 2.0
    arrivals: float = 0.0
    seed: int = 1
    lint: int | None = None
    limits: Limits = field(default_factory=Limits)
    label: str = ""
    workers: Workers = field(default_factory=Workers)
    mutants: frozenset[str] = frozenset()
    knobs: Mapping[str, t.Any] = field(default_factory=dict)


def order_of(wish: Wish, address: TargetAddress | None, workers: int) -> Order:
    """The order for this number of workers. Raises `Refused`."""
    workload = catalog.find(wish.workload)
    require_spread(workload, workers)
    version = wish.version or _usual_version(address)
    _require_version(workload, version, wish)
    policy = "raw" if wish.mount else _policy(_wanted_policy(workload, wish.policy), version)
    if version == SPRITELY and wish.connections > 1:
        raise Refused("a client of Spritely NFS has one connection: its server knows it by its address")
    transport = _transport(wish, address, version)
    most = MOST_OVER_UDP if transport == "udp" else workload.size
    size = min(workload.size, MOST_READ.get(version, most), most)
    is_rate = workload.unit is not None
    parameters = workload.with_parameters(wish.parameters)
    if workload.load and wish.arrivals and workload.load not in wish.parameters:
        parameters[workload.load] = wish.arrivals
    clients = wish.clients or -(-workload.clients // workers)
    callers = wish.callers or workload.callers
    workload.require_enough(parameters, clients * workers, callers)
    return Order(
        workload=workload.name,
        parameters=parameters,
        address={} if address is None else address.to_plain(),
        mount=wish.mount,
        counts=wish.counts,
        directory=new_directory(),
        version=version,
        transport=transport,
        policy=policy,
        rsize=wish.rsize or size,
        wsize=wish.wsize or size,
        page=wish.page,
        stable=wish.stable or workload.stable,
        plus=wish.plus,
        window=wish.window or workload.window,
        clients=clients,
        workers=workers,
        connections=wish.connections,
        callers=callers,
        seed=wish.seed,
        duration=wish.duration,
        warmup=wish.warmup,
        arrivals=wish.arrivals if is_rate else 0.0,
        lint=(_LINT_OF_RATES if is_rate else 1) if wish.lint is None else wish.lint,
        most_seconds=wish.limits.seconds,
    )


def _usual_version(address: TargetAddress | None) -> str:
    if address is None or address.version == 3:
        return "3"
    return "2" if address.version == 2 else f"4.{1 if address.minor is None else address.minor}"


def _transport(wish: Wish, address: TargetAddress | None, version: str) -> str:
    """That of the run. Raises `Refused`."""
    transport = wish.transport or (address.proto if address is not None and not wish.mount else "tcp")
    if transport == "tcp":
        return transport
    if version not in UDP_VERSIONS:
        raise Refused(
            f"NFSv{version} does not run over UDP (RFC 5661 section 2.9.1); use --version 2 or 3, or --proto tcp"
        )
    if (most := max(wish.rsize or 0, wish.wsize or 0)) > MOST_OVER_UDP:
        raise Refused(f"expected at most {MOST_OVER_UDP} bytes of one READ or WRITE over UDP, got {most}")
    return transport


def _require_version(workload: Workload, version: str, wish: Wish) -> None:
    if wish.mount:
        return
    if version not in (*VERSIONS, SPRITELY):
        raise Refused(f"expected one of {', '.join((*VERSIONS, SPRITELY))} as the version, got {version!r}")
    if version not in workload.versions:
        why = workload.needs.get(version, "it cannot be said in that version")
        raise Refused(
            f"{workload.name} does not run with {title_of(version)}: {why}; use --version {workload.versions[0]}"
        )


def _wanted_policy(workload: Workload, name: str | None) -> str:
    """That of the user, or of the workload. Raises `Refused`."""
    if name is None:
        return workload.policy
    if DIRECT in {name, workload.policy} and name != workload.policy:
        raise Refused(f"{workload.name} {_OF_DIRECT[workload.policy == DIRECT]}; leave --policy out")
    return name


def _policy(name: str, version: str) -> str:
    if name == "like":
        name = {"2": "v2-like", "3": "v3-like", SPRITELY: "spritely"}.get(version, "v4-like")
    policy = POLICIES.get(name)
    if policy is None:
        raise Refused(f"unknown policy {name!r}; expected one of {', '.join(POLICIES)}")
    if version not in policy.versions:
        known = ", ".join(map(title_of, policy.versions))
        raise Refused(f"the policy {name} is for {known}, not for {title_of(version)}")
    return name


def dry_run(wish: Wish) -> list[str]:
    """What a run would make. Nothing is started and nothing sent. Raises `Refused`."""
    order = guest_order(wish) if wish.client else order_of(wish, None, wish.workers.planned)
    workload = catalog.find(wish.workload)
    demand = workload.demand(order.parameters, order.clients * order.workers)
    require_within(
        demand, wish.limits, order, order.warmup + order.duration if order.arrivals or workload.unit else 0
    )
    name = f"{workload.name} ({workload.kind})"
    makes = f"  makes at most {shown(demand)}, all below one new directory, which is removed at the end"
    callers = f"{order.arrivals:g} units a second" if order.arrivals else f"callers of each {order.callers}"
    workers = f" in each of {order.workers} workers" if order.workers > 1 else ""
    clients = f"  clients {order.clients}{workers}, {callers}"
    if workload.unit:
        makes += f"\n  lasts {order.warmup + order.duration:g} s, besides the preparation"
    if wish.client:
        return [
            f"{name} in a Linux guest, on a mount of {wish.target} with {title_of(order.version)}:",
            makes,
            clients,
        ]
    if wish.mount:
        return [f"{name} on the directory {wish.mount}, with the client of the kernel:", makes, clients]
    return [
        f"{name} with {title_of(order.version)} and the policy {order.policy} on {wish.target}:",
        makes,
        f"{clients}, window {order.window}",
        f"  READ {order.rsize} bytes, WRITE {order.wsize} bytes",
    ]


def run(wish: Wish, *, say: Say, progress: Say | None = None, out: Path | None = None) -> Outcome:
    """Start the target, run the workload, stop the target. Raises `Trouble`, `LostWorker`."""
    try:
        if wish.mount:
            return run_mounted(wish, say=say, progress=progress, out=out)
        if wish.client:
            return _run_in_guest(wish, say=say, out=out)
        with (
            interruptible(),
            closing(Loop()) as loop,
            _started(wish, loop) as target,
            reached(wish.workers, loop) as (reach, workers),
        ):
            return _run_on(wish, target, loop, reach, workers, say=say, progress=progress, out=out)
    except (Refused, TargetError) as error:
        raise Trouble(str(error)) from error
    except Stopped as error:
        raise Trouble(f"{error.kind}: {error}") from error


def run_mounted(wish: Wish, *, say: Say, progress: Say | None = None, out: Path | None = None) -> Outcome:
    """On a mounted directory: no target is started, and no policy chosen. Raises `Refused`, `Stopped`."""
    if wish.workers.cluster or wish.workers.hosts:
        raise Refused(
            "--mount is a directory of this machine; use --workers instead of --cluster and --hosts"
        )
    order = order_of(wish, None, wish.workers.planned)
    workload = catalog.find(wish.workload)
    _require_mountable(workload, wish)
    demand = workload.demand(order.parameters, order.clients * order.workers)
    seconds = order.warmup + order.duration if workload.unit is not None else 0
    require_within(demand, wish.limits, order, seconds)
    require_room_below(Path(wish.mount), demand)
    say(f"{workload.name}: on {wish.mount}, {shown(demand)}")
    _clear(out, say)
    about = About(
        target=wish.label or "mounted directory",
        nfsproof=__version__,
        warnings=tuple(_of_mount(Path(wish.mount), wish.counts)),
    )
    with closing(Loop()) as loop, reached(wish.workers, loop) as (reach, _):
        carrier = carrier_of(reach, order, workload, loop, evidence=out, say=progress)
        with _stopping(carrier):
            return carry_out(carrier, order, about)


def _run_in_guest(wish: Wish, *, say: Say, out: Path | None) -> Outcome:
    """With the client of the Linux kernel, in a guest. Raises `Refused`, `TargetError`."""
    from nfsproof import workload_guest  # needs the server and threads, which other runs do not

    order = guest_order(wish)
    say(f"{wish.workload}: {title_of(order.version)}, the client of Linux in a guest, which boots")
    _clear(out, say)
    with workload_guest.guest() as client, interruptible():
        return workload_guest.run_in(client, order, wish.knobs, wish.label)


def guest_order(wish: Wish) -> Order:
    """The order for the programs in a guest. Raises `Refused`."""
    if wish.target != "embedded":
        raise Refused(f"--client mounts the embedded server, not {wish.target}")
    if wish.workers != Workers():
        raise Refused("the guest has one processor: use --clients instead of --workers")
    order = order_of(replace(wish, mount="guest"), None, 1)
    workload = catalog.find(wish.workload)
    _require_mountable(workload, wish)
    demand = workload.demand(order.parameters, order.clients)
    seconds = order.warmup + order.duration if workload.unit is not None else 0
    require_within(demand, wish.limits, order, seconds)
    return order


def _require_mountable(workload: Workload, wish: Wish) -> None:
    if not workload.works_mounted:
        raise Refused(f"{workload.name} does not run on a mounted directory: {workload.why_not_mounted}")
    if wish.arrivals:
        raise Refused("an open loop needs the library; leave --arrivals out, or --mount and --client")


def _of_mount(mount: Path, counts: str) -> Iterator[str]:
    """What is not as wanted of a mounted directory. Raises `Stopped` if the server does not tell its counts."""
    if counts:
        ask_counts(counts)
    elif not counts_calls():
        yield "the calls of the kernel are not counted: this system has no /proc/self/mountstats"
    elif read_counts(mount) is None:
        yield f"{mount} is no NFS mount: no server was measured"


def _require_mutants(names: frozenset[str]) -> None:
    """Raise `Refused` for a mutant that does not exist."""
    if names:
        from nfsmutants.form import UnknownMutant, find_mutant  # most runs have none, and there are hundreds

        for name in sorted(names):
            try:
                find_mutant(name)
            except UnknownMutant as error:
                raise Refused(str(error)) from error


@contextlib.contextmanager
def _started(wish: Wish, loop: Loop) -> Iterator[Target]:
    target = make_target(wish.target)
    _require_mutants(wish.mutants)
    if not target.serves:
        raise Refused(f"{wish.target} is a client; a workload needs a server")
    if isinstance(target, EmbeddedTarget):
        target.loop, target.broken, target.knobs = loop, wish.mutants, wish.knobs
    elif wish.mutants or wish.knobs:
        raise Refused(f"only the embedded server has mutants and knobs, not {wish.target}")
    try:
        target.start()
        yield target
    finally:
        target.stop()


def _run_on(
    wish: Wish,
    target: Target,
    loop: Loop,
    reach: Reach | None,
    workers: int,
    *,
    say: Say,
    progress: Say | None,
    out: Path | None,
) -> Outcome:
    address = target.address()
    order = order_of(wish, address, workers)
    workload = catalog.find(wish.workload)
    demand = workload.demand(order.parameters, order.clients * order.workers)
    seconds = order.warmup + order.duration if workload.unit is not None else 0
    require_within(demand, wish.limits, order, seconds)
    link = Link(address, order.version, loop, timeout=order.timeout, connections=1, transport=order.transport)
    with closing(link):
        require_room(link, link.root(), demand)
    about = About(
        target=wish.label or ("URL" if "://" in wish.target else wish.target),
        nfsproof=__version__,
        is_in_process=isinstance(target, EmbeddedTarget) and reach is None,
    )
    say(f"{workload.name}: {title_of(order.version)}, policy {order.policy}, {shown(demand)}")
    _clear(out, say)
    carrier = carrier_of(reach, order, workload, loop, evidence=out, say=progress)
    with _stopping(carrier):
        return carry_out(carrier, order, about)


@contextlib.contextmanager
def _stopping(carrier: Carrier) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP end the phase, and the run cleans up; a second one ends that, too."""
    is_stopped = False

    def stop(_number: int, _frame: object) -> None:
        nonlocal is_stopped
        if is_stopped:
            raise KeyboardInterrupt
        is_stopped = True
        carrier.stop()

    with handled(stop, _SIGNALS):
        yield


def exit_status(outcome: Outcome) -> Exit:
    """That of the command."""
    if outcome.interrupted:
        return Exit.INTERRUPTED
    return {Verdict.FAIL: Exit.FAIL, Verdict.VOID: Exit.VOID}.get(outcome.result.verdict, Exit.OK)


def make_folder(folder: Path) -> None:
    """Make the folder of a result before the run, and see that it can be written. Raises `Trouble`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Trouble(f"cannot make {folder}: {error.strerror}") from error
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Trouble(f"cannot write {folder}: {error.strerror}") from error


def _clear(folder: Path | None, say: Say) -> None:
    """Remove what an older run has written into the folder of a result, and say so. Raises `Refused`."""
    if folder is None:
        return
    old = [path for path in (folder / results.FILE, *sorted(folder.glob(CAPTURES))) if path.is_file()]
    try:
        for path in old:
            path.unlink()
    except OSError as error:
        raise Refused(f"cannot remove {path} of an older run: {error.strerror}") from error
    if old:
        say(f"removed from {folder}, of an older run: {', '.join(path.name for path in old)}")


def write(result: Result, folder: Path) -> Path:
    """Write ``result.json``. Raises `Trouble`."""
    try:
        return results.write(result, folder)
    except OSError as error:
        raise Trouble(f"cannot write {folder}: {error.strerror}") from error


def progress_line(text: str) -> None:
    """Write over the line before, on a terminal."""
    sys.stderr.write(f"\r\x1b[K{text[:100]}")
    sys.stderr.flush()
