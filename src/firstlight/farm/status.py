"""The state of a farm: its jobs, workers and failures."""

from __future__ import annotations

from dataclasses import dataclass

from firstlight.farm.job import job_keys, strays
from firstlight.farm.leases import EXPIRED_S, is_leased
from firstlight.farm.store import Store


@dataclass(frozen=True)
class WorkerState:
    """The state that a worker reports."""

    name: str
    state: str
    """`booting`, `waiting`, `ended`; `lost` without a report for `EXPIRED_S`; `left out`."""
    boots: int
    failed: int
    refused: int
    seen_s: float
    """Seconds since its last report, by the clock of the store."""
    reason: str | None
    """Why it was left out, or why it rejected jobs."""


@dataclass(frozen=True)
class FarmStatus:
    """The state of a store at one instant."""

    jobs: int
    done: int
    running: int
    failed: int
    """Jobs that failed at least once and are not done."""
    workers: tuple[WorkerState, ...]
    strays: int = 0
    """Files among the jobs that are none."""

    @property
    def waiting(self) -> int:
        """Jobs without a result that no worker makes."""
        return self.jobs - self.done - self.running


def farm_status(store: Store) -> FarmStatus:
    """Read the state of a farm.

    :raises LabError: when the store cannot be used.
    """
    keys = job_keys(store)
    results = set(store.names("results"))
    done = {key for key in keys if f"{key}.json" in results}
    leases = store.names("leases")
    running = {key for key in keys if key not in done and is_leased(store, key, leases)}
    failed = {name.split(".")[0] for name in store.names("failed")} & set(keys) - done
    return FarmStatus(len(keys), len(done), len(running), len(failed), tuple(_workers(store)), len(strays(store)))


def live_workers(store: Store) -> dict[str, dict[str, str]]:
    """The present workers, each with the jobs that it rejected and the reasons."""
    found = {}
    for each in _workers(store):
        if each.state in ("booting", "waiting"):
            jobs = (store.read("workers", f"{each.name}.json") or {}).get("refused")
            found[each.name] = {str(key): str(why) for key, why in jobs.items()} if isinstance(jobs, dict) else {}
    return found


def _workers(store: Store) -> list[WorkerState]:
    found = []
    for file in store.names("workers"):
        name = file.removesuffix(".json")
        report = store.read("workers", file) or {}
        excluded = store.read("excluded", file)
        seen_s = store.age_s("workers", file)
        if seen_s is None:
            continue
        refused = report.get("refused")
        reasons = list(refused.values()) if isinstance(refused, dict) else []
        state = str(report.get("state", "unknown"))
        if excluded is not None:
            state, reasons = "left out", [excluded.get("reason")]
        elif state in ("booting", "waiting") and seen_s >= EXPIRED_S:
            state = "lost"
        found.append(
            WorkerState(
                name, state, _count(report.get("boots")), _count(report.get("failed")),
                len(refused) if isinstance(refused, dict) else 0, seen_s, str(reasons[0]) if reasons else None,
            )
        )  # fmt: skip
    return found


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
