# SPDX-License-Identifier: MIT
"""Checks of clients: does a client do its work, whatever happens to messages and to the server?

The target is a client (`client:libnfs`); `nfsproof clients` runs them. A check is one fault plan, its parameters are
the work of the client and the version of NFS.
"""
