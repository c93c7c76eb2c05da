# SPDX-License-Identifier: MIT
"""Workers in other processes, on this machine or on many: who starts them, calls them, and waits for all of them.

    crew.Crew           the carrier of a run: calls all workers, waits, collects; ends all of them when one is lost
    processes           workers as processes of this machine
    cluster             workers as actors of Dask distributed
    servant.Servant     at the other end: one worker, which carries out what arrives
    wire, messages      what goes from one end to the other: JSON, read strictly

A way to reach workers (`crew.Reach`) begins calls and hands in what came back; it waits for nothing by itself.
"""
