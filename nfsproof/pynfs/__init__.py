# SPDX-License-Identifier: MIT
"""`nfsproof pynfs`: tests of a user's checkout of pynfs as a second opinion, in the records of nfsproof.

pynfs is a separate program under the GPL. Nothing of it is copied, imported, built or shipped: `checkout` finds it and
lists its codes, `segment` runs it as a process, `output` reads what it prints, `verdicts` makes records, `running` puts
these together, and `comparing` compares such a run with one of nfsproof by the mapping in `known`.
"""
