# SPDX-License-Identifier: MIT
"""Histograms of latencies, in microseconds: log-linear buckets, each at most 1/128 as wide as its values.

Inside, a latency is a whole number of tenths of a microsecond (*ticks*). Below 256 ticks each value has a bucket. From
there on each power of two is split into 128 buckets, so the middle of a bucket differs from any value in it by at most
1/256 (0.4 %). Count, sum, lowest and highest value are exact. All state is whole numbers, so merging in any order gives
the histogram of all values, to the bit.

No library fits: hdrhistogram has a part in C, its port without one needs numpy.
"""

from __future__ import annotations

import math
import typing as t
from collections.abc import Iterable, Iterator
from fractions import Fraction

TICKS = 10
"""In a microsecond."""
_BITS = 7
_SPLIT = 1 << _BITS
"""Buckets of each power of two."""
RELATIVE_ERROR = 1 / (2 * _SPLIT)
"""How much a percentile may differ from the value at its rank, relative to it, because of the width of buckets."""
ABSOLUTE_ERROR = 0.5 / TICKS
"""What may be added to that, in microseconds: values are rounded to a tick."""
LONGEST = float(1 << 36)
"""Microseconds; some 19 hours. A longer latency is refused: it is an error of the program that measures."""
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
"""Those that results and tables have."""
_LAST = ((LONGEST * TICKS).__trunc__().bit_length() - _BITS) * _SPLIT + _SPLIT


def bucket_of(ticks: int) -> int:
    """The number of the bucket of a value in ticks: it grows with the value, and has no gaps."""
    shift = max(0, ticks.bit_length() - _BITS - 1)
    return (shift << _BITS) + (ticks >> shift)


def lowest_of(bucket: int) -> int:
    """The lowest value of a bucket, in ticks. The next bucket begins where it ends."""
    shift = max(0, (bucket >> _BITS) - 1)
    return (bucket - (shift << _BITS)) << shift


class Histogram:
    """Counts of latencies. `add` is the only method on the path of a call; it allocates nothing but a bucket."""

    __slots__ = ("_counts", "_highest", "_lowest", "_sum", "count")

    def __init__(self, values: Iterable[float] = ()) -> None:
        self._counts: dict[int, int] = {}
        self.count = 0
        self._sum = 0
        self._lowest = 0
        self._highest = 0
        for value in values:
            self.add(value)

    def add(self, microseconds: float) -> None:
        """Counts a latency. ValueError if it is negative, not a number, or longer than `LONGEST`."""
        if not 0 <= microseconds <= LONGEST:
            raise ValueError(f"a latency is from 0 to {LONGEST:.0f} µs, got {microseconds}")
        ticks = round(microseconds * TICKS)
        shift = ticks.bit_length() - _BITS - 1
        bucket = ticks if shift <= 0 else (shift << _BITS) + (ticks >> shift)
        self._counts[bucket] = self._counts.get(bucket, 0) + 1
        self._sum += ticks
        if ticks > self._highest:  # noqa: PLR1730  (max() takes three times as long)
            self._highest = ticks
        if ticks < self._lowest or not self.count:
            self._lowest = ticks
        self.count += 1

    def merge(self, other: Histogram) -> None:
        """Adds all that another histogram has counted."""
        if not other.count:
            return
        for bucket, count in other._counts.items():
            self._counts[bucket] = self._counts.get(bucket, 0) + count
        self._lowest = min(self._lowest, other._lowest) if self.count else other._lowest
        self._highest = max(self._highest, other._highest)
        self._sum += other._sum
        self.count += other.count

    @property
    def lowest(self) -> float:
        """The shortest latency in microseconds; 0 if there is none."""
        return self._lowest / TICKS

    @property
    def highest(self) -> float:
        """The longest latency in microseconds; 0 if there is none."""
        return self._highest / TICKS

    @property
    def mean(self) -> float:
        """In microseconds, of the exact sum; 0 if there is no latency."""
        return self._sum / TICKS / self.count if self.count else 0.0

    def percentile(self, percent: float) -> float:
        """The latency in microseconds at the nearest rank: the lowest that `percent` of all do not exceed.

        It differs from the value at this rank by at most `RELATIVE_ERROR` of it and `ABSOLUTE_ERROR`. ValueError for
        an empty histogram, or a percentage outside of 0 to 100.
        """
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile is from 0 to 100, got {percent}")
        if not self.count:
            raise ValueError("there is no percentile of no latency")
        # str: 99.9 is meant, not the binary number next to it, with which the rank of 1000 values would be 1000.
        rank = max(1, math.ceil(Fraction(str(percent)) * self.count / 100))
        if rank == self.count:
            return self.highest
        seen = 0
        for bucket in sorted(self._counts):
            seen += self._counts[bucket]
            if seen >= rank:
                break
        middle = (lowest_of(bucket) + lowest_of(bucket + 1) - 1) / 2
        return min(max(middle, self._lowest), self._highest) / TICKS

    def percentiles(self) -> dict[str, float]:
        """Those of `PERCENTILES` by their numbers as text, such as ``99.9``; nothing for an empty histogram."""
        return {f"{each:g}": self.percentile(each) for each in PERCENTILES} if self.count else {}

    def buckets(self) -> Iterator[tuple[float, float, int]]:
        """(from, to, count) of each bucket that has a value, in order; microseconds, `to` is excluded."""
        for bucket in sorted(self._counts):
            yield lowest_of(bucket) / TICKS, lowest_of(bucket + 1) / TICKS, self._counts[bucket]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Histogram) and self.to_plain() == other.to_plain()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"<Histogram of {self.count}: {self.lowest} to {self.highest} µs>"

    def to_plain(self) -> dict[str, t.Any]:
        """Its form in JSON: buckets are pairs (lowest value in ticks of 0.1 µs, count); the rest is for people."""
        return {
            "count": self.count,
            "sum_ticks": self._sum,
            "lowest_us": self.lowest,
            "highest_us": self.highest,
            "percentiles_us": self.percentiles(),
            "buckets": [[lowest_of(bucket), self._counts[bucket]] for bucket in sorted(self._counts)],
        }

    @classmethod
    def from_plain(cls, plain: object) -> Histogram:
        """Reads what `to_plain` has written. ValueError if it cannot be what a histogram writes."""
        made = cls()
        try:
            made._read(t.cast("dict[str, t.Any]", plain))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a histogram: {error!r}") from None
        if made.to_plain() != plain:
            raise ValueError("its count, its sum or its percentiles are not those of its buckets")
        return made

    @staticmethod
    def json_schema() -> dict[str, t.Any]:
        """Of `to_plain`. That the fields fit to each other is more than a schema can say."""
        number, whole = {"type": "number", "minimum": 0}, {"type": "integer", "minimum": 0}
        pair = {"type": "array", "items": whole, "minItems": 2, "maxItems": 2}
        properties = {
            "count": whole,
            "sum_ticks": whole,
            "lowest_us": number,
            "highest_us": number,
            "percentiles_us": {"type": "object", "additionalProperties": number},
            "buckets": {"type": "array", "maxItems": _LAST, "items": pair},
        }
        return {
            "type": "object",
            "description": "Latencies: pairs of the lowest value of a bucket in 0.1 µs, and a count.",
            "additionalProperties": False,
            "required": list(properties),
            "properties": properties,
        }

    def _read(self, plain: dict[str, t.Any]) -> None:
        if len(plain["buckets"]) > _LAST:
            raise ValueError(f"it has {len(plain['buckets'])} buckets; at most {_LAST} exist")
        for lowest, count in plain["buckets"]:
            if not (_is_whole(lowest, LONGEST * TICKS) and _is_whole(count, 1 << 62) and count):
                raise ValueError(f"no bucket begins at {lowest!r:.40} with {count!r:.40} latencies")
            self._counts[bucket_of(lowest)] = count
            self.count += count
        self._sum = plain["sum_ticks"]
        self._lowest, self._highest = (round(plain[name] * TICKS) for name in ("lowest_us", "highest_us"))
        if not (_is_whole(self._sum, 1 << 100) and self._fits()):
            raise ValueError(
                "its sum, its lowest or its highest latency is not one that its buckets can have"
            )

    def _fits(self) -> bool:
        """Whether sum, lowest and highest value can be those of the buckets."""
        if not self._counts:
            return self._sum == self._lowest == self._highest == 0
        least = sum(lowest_of(bucket) * count for bucket, count in self._counts.items())
        most = sum((lowest_of(bucket + 1) - 1) * count for bucket, count in self._counts.items())
        ends = (bucket_of(self._lowest), bucket_of(self._highest))
        return least <= self._sum <= most and ends == (min(self._counts), max(self._counts))


def _is_whole(value: object, most: float) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
