# SPDX-License-Identifier: MIT
"""Words of the command line as the wish for a run: those of `workload run`, also where another command makes runs."""

from __future__ import annotations

import typing as t
from collections.abc import Collection, Mapping, Sequence

import click
from click.core import ParameterSource

from nfsproof.exits import Trouble
from nfsproof.workload_carriers import Workers
from nfsproof.workloading import Wish
from nfstargets.spelling import as_url
from workloads import catalog
from workloads.fio import Job
from workloads.safety import Limits
from workloads.trouble import Refused

_OWN = ("out", "dry_run")
"""Options of `workload run` that are about one result."""
_OF_THE_LIBRARY = (
    *("policy", "version", "transport", "size", "rsize", "wsize", "page", "stable"),
    *("plus", "window", "connections", "lint", "mutants"),
)
"""Those that say what is sent."""
_OF_POLICIES = tuple(name for name in _OF_THE_LIBRARY if name not in {"version", "size", "rsize", "wsize"})
"""Those that a client that mounts does not ask for."""
_SPELLED = {"mutants": "mutant", "transport": "proto"}
_NOT_IN_2 = ("stable", "plus")
_WHY_NOT_IN_2 = "NFSv2 has stored data when it answers, and its listings have no attributes"
_OF_RATES = ("duration", "warmup", "arrivals", "callers")


def wish_of(parameters: Mapping[str, t.Any], given: Collection[str] = ()) -> Wish:
    """The wish of the parameters of `workload run`, without `out` and `dry_run`. Raises click.UsageError, `Trouble`.

    `given`: those that the user has written.
    """
    more = {name: value for name, value in parameters.items() if name not in _OWN}
    mount, target, size = more.pop("mount"), more.pop("target"), more.pop("size")
    if mount and target:
        raise click.UsageError("expected a TARGET or --mount, got both")
    if more["counts"] and not mount:
        raise click.UsageError(
            "--counts is about the client of --mount: without it nfsproof makes the calls itself, and counts them"
        )
    if more["client"] and mount:
        raise click.UsageError("expected --client or --mount, got both")
    more["client"] = more["client"] or ""
    number, cluster, hosts = more.pop("workers"), more.pop("cluster"), more.pop("hosts")
    if cluster and hosts:
        raise click.UsageError("expected --cluster or --hosts, got both")
    _refuse_ignored(parameters, given)
    return Wish(
        workload=more.pop("name"),
        workers=Workers(number, cluster or "", hosts, more.pop("remote_python")),
        target=as_url(target or "embedded"),
        mount=mount or "",
        rsize=more.pop("rsize") or size,
        wsize=more.pop("wsize") or size,
        limits=Limits(more.pop("max_bytes"), more.pop("max_files"), more.pop("max_seconds")),
        mutants=frozenset(more.pop("mutants")),
        **more,
    )


def wish_of_words(run: click.Command, workload: str, target: str, words: Sequence[str]) -> Wish:
    """The wish of ``workload run WORKLOAD TARGET WORDS``; `run` is that command. Raises Trouble, click.UsageError."""
    context = run.make_context("nfsproof workload run", [workload, target, *words])
    for name in _OWN:
        if context.params[name]:
            raise Trouble(f"--{name.replace('_', '-')} stands before --: the results are of several runs")
    return wish_of(context.params, given_of(context))


def wish_of_job(job: Job, target: str, version: str | None) -> Wish:
    """A job of fio as a run. Raises `Trouble` for what would do nothing."""
    if version == "2" and job.stable == "data-sync":
        raise Trouble(f"[{job.name}]: expected no sync=dsync with --version 2: {_WHY_NOT_IN_2}")
    return Wish(
        workload=job.workload,
        target=target,
        version=version,
        policy=job.policy,
        parameters={"size": str(job.size), "io": str(job.io)},
        stable=job.stable,
        clients=job.clients,
        callers=job.callers,
        duration=job.duration,
        warmup=job.warmup,
        arrivals=job.arrivals,
        seed=job.seed,
        rsize=job.io,
        wsize=job.io,
    )


def given_of(context: click.Context) -> list[str]:
    """The parameters that the user has written, in the order in which they stand."""
    return [
        name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]


def _refuse_ignored(parameters: Mapping[str, t.Any], given: Collection[str]) -> None:
    """Raise click.UsageError for options that would do nothing, `Trouble` for an unknown workload."""
    try:
        workload = catalog.find(parameters["name"])
    except Refused as error:
        raise Trouble(str(error)) from error
    if parameters["mount"]:
        _refuse(given, _OF_THE_LIBRARY, "with --mount the kernel decides it")
    if parameters["client"]:
        _refuse(given, _OF_POLICIES, "the client decides it")
    if workload.unit is None:
        _refuse(
            given, _OF_RATES, f"{workload.name} is a script, which runs once from its beginning to its end"
        )
    if parameters["version"] == "2":
        _refuse(given, _NOT_IN_2, _WHY_NOT_IN_2)


def _refuse(given: Collection[str], names: Collection[str], why: str) -> None:
    ignored = [f"--{_SPELLED.get(name, name)}" for name in given if name in names]
    if ignored:
        raise click.UsageError(f"expected no {' and no '.join(ignored)}: {why}")
