# SPDX-License-Identifier: MIT
"""The end of a worker: carries out the calls that arrive on a wire, one after the other, until `end`.

    waiting     serves the loop of the worker: recalls are answered, and sessions are renewed, however long another
                worker takes to come to the barrier
    in a call   `stop` is taken from the wire as soon as it arrives, and ends a phase
    over        the wire is closed. Without `end` the controller is gone: worker 0 removes what the run has made

Nothing is raised to whoever started the servant: an error is the answer of the call.
"""

from __future__ import annotations

import base64
import contextlib
import socket
import tempfile
import time
import typing as t
from contextlib import closing
from pathlib import Path

from nfsclient.errors import NfsClientError
from nfsclient.rpc.loop import Loop
from workloads.carriers.messages import decode, encode
from workloads.carriers.news import News
from workloads.carriers.wire import Wire
from workloads.engine import Interrupted
from workloads.mounted import MountWorker
from workloads.shape import Plain
from workloads.spec import Order
from workloads.trouble import Refused, Stopped
from workloads.worker import Worker

_LAST: t.Final = 2.0
"""Seconds to send the last answer."""
_LARGEST_CAPTURE: t.Final = 16 << 20
AnyWorker: t.TypeAlias = Worker | MountWorker
MakeWorker: t.TypeAlias = t.Callable[[Order, Loop, Path], AnyWorker]


def make_worker(order: Order, loop: Loop, evidence: Path) -> AnyWorker:
    """The worker of an order."""
    return MountWorker(order, loop=loop) if order.mount else Worker(order, loop=loop, evidence=evidence)


def serve_on(sock: socket.socket, nfsproof: str, make: MakeWorker = make_worker) -> None:
    """Carry out what arrives on a socket until it ends."""
    with closing(Loop()) as loop, closing(Wire(sock, loop)) as wire:
        Servant(wire, loop, nfsproof=nfsproof, make=make).serve()
        wire.flush(_LAST)


class Servant:
    """One worker."""

    def __init__(self, wire: Wire, loop: Loop, *, nfsproof: str = "", make: MakeWorker = make_worker) -> None:
        """`nfsproof` is its version, which the controller compares with its own."""
        self._wire = wire
        self._loop = loop
        self._nfsproof = nfsproof
        self._make = make
        self._worker: AnyWorker | None = None
        self._news: News | None = None
        self._in_phase = False
        self._is_ended = False
        self._evidence = Path()
        wire.on_message = self._take
        wire.on_over = self._stop

    def serve(self) -> None:
        """Until `end`, or until the controller is gone."""
        with tempfile.TemporaryDirectory(prefix="nfsproof-worker-") as folder:
            self._evidence = Path(folder)
            while not self._is_ended and not self._wire.is_over:
                self._wait()
                if self._wire.inbox:
                    self._wire.send(encode(self._answer(self._wire.inbox.popleft())))
            self._leave()

    def _take(self, text: str) -> None:
        if text == STOP:
            self._stop()
        else:
            self._wire.inbox.append(text)

    def _stop(self) -> None:
        if self._in_phase and self._worker is not None:
            self._worker.stop()

    def _wait(self) -> None:
        def is_wanted() -> bool:
            return bool(self._wire.inbox) or self._wire.is_over

        if self._worker is None:
            while not is_wanted():
                self._loop.run_once(self._loop.clock() + 1)
        else:
            self._worker.wait(is_wanted)

    def _leave(self) -> None:
        worker = self._worker
        if worker is None:
            return
        with contextlib.suppress(NfsClientError, Stopped, Refused, OSError, Interrupted):
            if not self._is_ended and worker.order.worker == 0:
                worker.clean()
            worker.close()

    # ------------------------------------------------------------ calls

    def _answer(self, text: str) -> Plain:
        try:
            call = decode(text)
            return {"result": self._carry_out(call.pop("call"), call)}
        except Stopped as error:
            return {"stopped": {"kind": error.kind, "text": str(error)}}
        except NfsClientError as error:
            return {"stopped": {"kind": "connection", "text": str(error)}}
        except Refused as error:
            return {"refused": str(error)}
        except Interrupted as error:
            return {"interrupted": True, "report": error.reports[0] if error.reports else None}
        except Exception as error:  # noqa: BLE001  (the controller ends the run and prints it)
            return {"broken": f"{type(error).__name__}: {error}"[:2000]}

    def _carry_out(self, name: str, arguments: dict[str, Plain]) -> Plain:
        if name == "open":
            return self._open(arguments["order"])
        if name == "clock":
            return time.time()
        if name == "end":
            self._is_ended = True
            return True
        worker = self._worker
        if worker is None:
            if name in {"finish", "clean"}:
                return {"left": ""}
            raise Refused(f"expected open before {name}")
        if name == "phase":
            return self._phase(worker, **arguments)
        if name == "finish":
            worker.finish()
            return True
        if name == "clean":
            return worker.clean()
        raise Refused(f"no call is named {name!r:.40}")

    def _open(self, order: dict[str, Plain]) -> Plain:
        self._worker = worker = self._make(Order(**order), self._loop, self._evidence)
        worker.on_progress = self._progress
        opened = worker.open()
        self._news = News(worker.ledger)
        return {**opened, "nfsproof": self._nfsproof}

    def _phase(
        self, worker: AnyWorker, name: str, start_at: float, learn: list[Plain], collect: bool
    ) -> Plain:
        """`learn`: news of others; `collect`: whether another phase follows, for which others need ours."""
        assert self._news is not None
        for news in learn:
            self._news.learn(news)
        self._in_phase = True
        try:
            report = worker.phase(name, start_at)
        finally:
            self._in_phase = False
        if "wrong" in report:
            report["wrong"]["capture"] = self._capture(report["wrong"]["capture"])
        return {"report": report, "news": self._news.collect() if collect else None}

    def _capture(self, name: str) -> str:
        """The bytes of a capture that the worker has written, in base64; empty if there is none, or it is too large."""
        if not name:
            return ""
        with contextlib.suppress(OSError):
            octets = (self._evidence / name).read_bytes()
            return base64.b64encode(octets).decode() if len(octets) <= _LARGEST_CAPTURE else ""
        return ""

    def _progress(self, line: str) -> None:
        self._wire.send(encode({"progress": line}))


STOP: t.Final = encode({"call": "stop"})
"""Ends the running phase. It has no answer: that of the phase says how it ended."""
