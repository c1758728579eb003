"""What a model of a disk says of each request, worked out a second time: the plugin that is the disk is in Rust."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.lab.storage.model import StorageModel
from firstlight.lab.storage.requests import Request

NS_PER_S = 10**9


def expected_ends(model: StorageModel, requests: Sequence[Request]) -> list[int]:
    """When each request is done, in ns, by the instants at which they came."""
    free = 0
    ends: dict[str, int] = {}
    done = []
    for each in requests:
        begins = max(free, each.asked_ns)
        if each.kind == "F":
            cost = model.flush.latency
        else:
            of_kind = model.read if each.kind == "R" else model.write
            sequential = ends.get(each.kind) == each.start
            ends[each.kind] = each.start + each.bytes
            cost = of_kind.latency
            if sequential and of_kind.sequential_latency is not None:
                cost = of_kind.sequential_latency
            ahead = 0
            if sequential and each.kind == "R" and model.read_ahead is not None:
                ahead = min(model.read_ahead.size, (begins - free) * of_kind.bandwidth // NS_PER_S, each.bytes)
                cost += ahead * NS_PER_S // model.read_ahead.bandwidth
            cost += (each.bytes - ahead) * NS_PER_S // of_kind.bandwidth
        free = begins + cost
        done.append(free)
    return done
