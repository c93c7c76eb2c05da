# SPDX-License-Identifier: MIT
"""Workloads with the client of the Linux kernel: what the server counts is what the kernel says that it has sent."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter

import pytest

from nfsjudge.verdict import Verdict
from nfsproof import workload_guest, workloading
from nfstargets.base import TargetError
from nfstargets.cache import find_installation
from nfstargets.knfsd.client import PROGRAMS_THERE, LinuxClient
from nfstargets.knfsd.packaged import KNFSD_QEMU
from tests.needs import leave_out_if_hindered, need

_BOTH = """\
import json, sys
from pathlib import Path
from workloads import in_guest
from workloads.mountstats import read_counts

mount = Path(sys.argv[3])
before = read_counts(mount)
status = in_guest.main(sys.argv[1], sys.argv[2])
print(json.dumps([status, dict(read_counts(mount).since(before).calls)]))
"""


def test_the_kernel_and_the_server_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    need("knfsd")
    printed: list[str] = []
    run = LinuxClient.run

    def run_both(self: LinuxClient, *argv: str, **more: object) -> object:
        """The run of the workload, between two looks at what the kernel counts."""
        if "workloads.in_guest" not in argv:
            return run(self, *argv, **more)  # type: ignore[arg-type]
        words = ("env", f"PYTHONPATH={PROGRAMS_THERE}", "python3", "-c", _BOTH, *argv[-2:], "/run/mnt")
        done = run(self, *words, **more)  # type: ignore[arg-type]
        printed.append(done.check().text)
        return done

    wish = workloading.Wish(
        workload="write10", target="embedded", client="linux", version="4.1", parameters={"size": "256k"}
    )
    order = dataclasses.replace(workloading.guest_order(wish), rsize=32768, wsize=32768)
    try:
        with workload_guest.guest() as client:
            monkeypatch.setattr(LinuxClient, "run", run_both)
            result = workload_guest.run_in(client, order, {"delegations": "none"}).result
    except TargetError as error:
        if find_installation(KNFSD_QEMU) is None:
            leave_out_if_hindered("knfsd", str(error))
        raise
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert (result.setup.policy, result.setup.version, result.setup.transport) == ("kernel", "4.1", "tcp")
    measured = Counter(result.phases[0].calls)
    assert measured["WRITE"] == 8
    status, calls = json.loads(printed[0])
    assert status == 0
    assert calls["WRITE"] == 8
    assert measured - Counter(calls) == Counter()
