# SPDX-License-Identifier: MIT
"""A client under test as the target of a run: ``client:libnfs``.

Such a run has the checks of `suites/clients`. Each makes a server and a proxy that carries out a fault plan, and lets
the client do some work there. So this target serves nothing: the plugin asks it nothing before and after checks.
"""

from __future__ import annotations

import typing as t
from collections.abc import Set as AbstractSet

from nfsclient.similar import similar_text
from nfstargets.base import Target, TargetAddress, TargetError
from nfstargets.clients import KIND
from nfstargets.clients.commands import NO_COMMANDS
from nfstargets.clients.drivers import CLIENTS, VERSIONS, Client, CommandClient, LibraryClient, NoClient
from nfstargets.clients.programs import ProgramClient

OF_COMMANDS: t.Final = {
    "command": "--mount and --umount",
    "program": "--program, such as --program \"read=nfs-cat '{url}'\"",
}
"""The clients that need commands of the user -> which."""


class ClientTarget(Target):
    """A client under test. Each worker has its own."""

    per_worker: t.ClassVar[bool] = True
    is_throwaway: t.ClassVar[bool] = True
    is_watchable: t.ClassVar[bool] = False
    serves: t.ClassVar[bool] = False

    def __init__(self, name: str = "") -> None:
        self._name = name
        self.name = f"{KIND}:{name}"
        self.commands = NO_COMMANDS
        """To be set before `start`: those of the user, for the clients that need them."""
        self.broken: frozenset[str] = frozenset()
        """To be set before `start`: the mutants of it that are on throughout."""
        self._client: Client | None = None

    def start(self) -> None:
        """Find the client, or boot its machine. Raises TargetError."""
        client = self._make()
        try:
            client.start()
        except NoClient as error:
            raise TargetError(str(error)) from error
        self._client = client
        self.set_mutants(self.broken)

    def _make(self) -> Client:
        if self._name in CLIENTS:
            return CLIENTS[self._name]()
        if self._name not in OF_COMMANDS:
            known = (*CLIENTS, *OF_COMMANDS)
            near = similar_text(self._name, known, f"there are {', '.join(known)}")
            raise TargetError(f"unknown client {self._name!r}{near}")
        if self._name == "command" and self.commands.mount:
            return CommandClient(self.commands.mount, self.commands.umount, VERSIONS)
        if self._name == "program" and self.commands.programs:
            return ProgramClient(self.commands.programs, VERSIONS)
        raise TargetError(f"the client `{self._name}` needs {OF_COMMANDS[self._name]}")

    def stop(self) -> None:
        if self._client is not None:
            self._client.stop()
        self._client = None

    def address(self) -> TargetAddress:
        """Raises TargetError: nobody can call a client."""
        raise TargetError(f"{self.name} is a client and has no address")

    @property
    def client(self) -> Client:
        """The client. Raises TargetError while it is not started."""
        if self._client is None:
            raise TargetError(f"{self.name} is not started")
        return self._client

    def set_mutants(self, names: AbstractSet[str]) -> None:
        """Make it misbehave in one way, or in none. Raises TargetError for a client that cannot be broken so."""
        client = self._client
        if isinstance(client, LibraryClient) and client.name == "nfsclient" and len(names) <= 1:
            client.mutant = next(iter(names), "")
        elif names:
            raise TargetError(
                f"{self.name} cannot have the mutants {', '.join(sorted(names))}: expected at most one, of "
                "client:nfsclient"
            )

    def describe(self) -> str:
        """With its version, and the mutant that is on throughout."""
        turned = f" ({', '.join(sorted(self.broken))})" if self.broken else ""
        return (self.name if self._client is None else self._client.description) + turned
