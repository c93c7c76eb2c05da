# SPDX-License-Identifier: MIT
"""Random programs of two clients, compared call by call with a model of what the RFCs bind.

`steps` are the programs as data, `things` is the model, `players` make the calls, `machine` runs one program and judges
it, and `campaign` runs many and makes one that breaks shorter. The checks are ``suites/nfs3/test_model.py`` and
``suites/nfs4/test_model.py``.
"""
