# SPDX-License-Identifier: MIT
"""`python -m workloads.in_guest ORDER RESULT`: a run on a mounted directory of the machine that this is.

For a machine that has nothing of nfsproof but these packages: ORDER is a file of JSON, and RESULT a folder for
result.json. Standard error says why there is none.

    {"order": {...}, "target": TEXT, "server": TEXT, "nfsproof": VERSION}      the fields of `spec.Order`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from workloads import result
from workloads.running import About, Here, carry_out
from workloads.spec import Order
from workloads.trouble import Refused, Stopped

_NONE = 4
"""Exit status: there is no result."""


def main(order_file: str, folder: str) -> int:
    """Carry the order out; 0 if there is a result, whatever its verdict."""
    plain = json.loads(Path(order_file).read_text(encoding="utf-8"))
    order = Order(**plain["order"])
    about = About(target=plain["target"], nfsproof=plain["nfsproof"], server=plain["server"])
    try:
        outcome = carry_out(Here(order), order, about)
    except (Refused, Stopped) as error:
        sys.stderr.write(f"{error}\n")
        return _NONE
    result.write(outcome.result, Path(folder))
    for left in outcome.left:
        sys.stderr.write(f"could not be removed: {left}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
