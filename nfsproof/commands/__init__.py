# SPDX-License-Identifier: MIT
"""The commands, one module each.

They are loaded for every call of nfsproof: a module imports what is heavy, and the rooms, inside the command.
"""
