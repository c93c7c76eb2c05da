# SPDX-License-Identifier: MIT
"""What all our own tests share."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# A busy machine is no failure: examples have no deadline, and may be slow to make.
settings.register_profile(
    "own-tests",
    deadline=None,
    max_examples=int(os.environ.get("NFSPROOF_EXAMPLES", "50")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("own-tests")

# Not in the folder of the plugin's tests: pytest reads this name from the first conftest files only.
pytest_plugins = ["pytester"]

# Where we are started with signals ignored (by nohup, in the background of a script), what we start would ignore them
# too, and that is another case than the one that tests of signals are about.
for _number, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, _handler)
