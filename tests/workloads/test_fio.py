# SPDX-License-Identifier: MIT
"""Job files of fio: what is read becomes a rate, everything else is refused with its name and line."""

from __future__ import annotations

import dataclasses
import typing as t
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.fio import IGNORED, Job, JobError, parse_jobs, read_jobs

SIMPLE = "[job]\nrw=randread\nsize=1m\nruntime=10\n"
JOB = Job(
    name="job",
    workload="randread",
    io=4096,
    size=1 << 20,
    clients=1,
    callers=1,
    duration=10.0,
    warmup=0.0,
    arrivals=0.0,
    policy="like",
    stable="unstable",
    seed=1,
)
LARGE = """\
; a comment
[global]
ioengine=libaio
direct=1
time_based
group_reporting=1
runtime=1m
ramp_time=500ms
size=2G

[first]
rw=read
bs=64k
numjobs=4
iodepth=16

# one after the other
[second]
stonewall
readwrite=randwrite
blocksize=8KiB
rate_iops=100
rate_process=poisson
numjobs=3
sync=dsync
randseed=42
runtime=90
"""


def test_a_small_job_has_the_defaults_of_fio() -> None:
    assert parse_jobs(SIMPLE) == [JOB]


def test_jobs_have_the_keys_of_global_and_their_own() -> None:
    first, second = parse_jobs(LARGE)
    assert first == Job(
        name="first", workload="seqread", io=65536, size=2 << 30, clients=4, callers=16, duration=60.0, warmup=0.5,
        arrivals=0.0, policy="raw", stable="unstable", seed=1,
    )  # fmt: skip
    assert second == Job(
        name="second", workload="randwrite", io=8192, size=2 << 30, clients=3, callers=1, duration=90.0, warmup=0.5,
        arrivals=300.0, policy="raw", stable="data-sync", seed=42,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("bs=1M", "io", 1 << 20),
        ("bs=512", "io", 512),
        ("bs=4kb", "io", 4096),
        ("direct=0", "policy", "like"),
        ("direct=1", "policy", "raw"),
        ("direct", "policy", "raw"),
        ("fsync=1", "stable", "file-sync"),
        ("fsync=0", "stable", "unstable"),
        ("sync=1", "stable", "file-sync"),
        ("sync=none", "stable", "unstable"),
        ("RAMP_TIME = 2s", "warmup", 2.0),
    ],
)
def test_a_key_becomes_a_field(line: str, field: str, value: t.Any) -> None:
    assert parse_jobs(SIMPLE + line) == [dataclasses.replace(JOB, **{field: value})]


@pytest.mark.parametrize("key", IGNORED)
def test_a_key_without_effect_is_accepted(key: str) -> None:
    assert parse_jobs(f"{SIMPLE}{key}=x\n") == [JOB]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "jobs: expected a section such as [job], got none"),
        ("[global]\nbs=4k\n", "jobs: expected a section such as [job], got none"),
        ("\nrw=read\n", "jobs:2: expected a section such as [job] first, got 'rw=read'"),
        ("[job\n", "jobs:1: expected a section such as [job], got '[job'"),
        ("[]\n", "jobs:1: expected a section such as [job], got '[]'"),
        (SIMPLE + "zonemode=strided\n", "jobs:5: unknown key 'zonemode'"),
        (SIMPLE + "rwmixread=70\n", "jobs:5: unknown key 'rwmixread'"),
        ("[global]\nnrfiles=4\n" + SIMPLE, "jobs:2: unknown key 'nrfiles'"),
        (
            SIMPLE + "rw=randrw\n",
            "jobs:5: rw: expected one of read, write, randread, randwrite, got 'randrw'",
        ),
        (SIMPLE + "bs=4k,8k\n", "jobs:5: bs: expected one number of bytes such as 4k or 1g, got '4k,8k'"),
        (SIMPLE + "size=50%\n", "jobs:5: size: expected one number of bytes"),
        (SIMPLE + "size=0\n", "jobs:5: size: expected one number of bytes"),
        (SIMPLE + "size=1k\n", "jobs:1: [job]: expected a size of at least bs, got 1024"),
        (SIMPLE + "numjobs=0\n", "jobs:5: numjobs: expected a whole number from 1 to 256, got '0'"),
        (SIMPLE + "iodepth=257\n", "jobs:5: iodepth: expected a whole number from 1 to 256, got '257'"),
        (SIMPLE + "iodepth=²\n", "jobs:5: iodepth: expected a whole number from 1 to 256"),
        (
            SIMPLE + "runtime=1d\n",
            "jobs:5: runtime: expected seconds, or a time such as 500ms or 2m, got '1d'",
        ),
        (SIMPLE + "fsync=32\n", "jobs:5: fsync: expected 0 or 1, got '32'"),
        (SIMPLE + "direct=2\n", "jobs:5: direct: expected 0 or 1, got '2'"),
        (SIMPLE + "rate_iops=100\n", "jobs:5: rate_iops: expected rate_process=poisson with it, got none"),
        (SIMPLE + "rate_iops=1\nrate_process=linear\n", "jobs:6: rate_process: expected poisson"),
        (SIMPLE + SIMPLE, "jobs:5: [job]: expected stonewall, because jobs run one after the other"),
        (SIMPLE + (SIMPLE + "stonewall\n") * 64, "jobs: expected at most 64 jobs, got more"),
        ("[job]\nrw=read\nsize=1m\n", "jobs:1: expected the key runtime, got none"),
        ("[job]\nrw=read\nsize=1m\nruntime=0\n", "jobs:1: [job]: expected a runtime above 0, got 0"),
        ("[job]\nrw=read\nruntime=1\n", "jobs:1: expected the key size, got none"),
        ("[job]\nsize=1m\nruntime=1\n", "jobs:1: expected the key rw, got none"),
        (SIMPLE + "include other.fio\n", "jobs:5: unknown key 'include other.fio'"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(JobError) as caught:
        parse_jobs(text)
    assert str(caught.value).startswith(said)
    assert len(str(caught.value)) < 300


def test_a_file_is_read_and_limited(tmp_path: Path) -> None:
    path = tmp_path / "jobs.fio"
    path.write_text(SIMPLE, encoding="utf-8")
    assert read_jobs(path) == [JOB]
    path.write_bytes(b"#" * (1 << 20) + b"\n")
    with pytest.raises(JobError, match="expected at most 1048576 bytes, got more"):
        read_jobs(path)
    path.write_bytes(b"\xff")
    with pytest.raises(JobError, match="expected text in UTF-8"):
        read_jobs(path)


LINES = st.one_of(st.text(max_size=20), st.sampled_from([*SIMPLE.splitlines(), *LARGE.splitlines()]))


@given(st.lists(LINES, max_size=20))
def test_any_text_is_jobs_or_an_error_with_words(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        jobs = parse_jobs(text)
    except JobError:
        with pytest.raises(JobError, match=r"^jobs"):
            parse_jobs(text)
    else:
        assert all(job.size >= job.io > 0 and job.duration > 0 for job in jobs)
