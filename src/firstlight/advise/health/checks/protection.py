"""Mitigations and policy: what protects the system must not be weaker."""

from __future__ import annotations

import re
from collections.abc import Mapping

from firstlight.advise.health.check import Found, NoEvidenceError, both_reported, check
from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.differences import changed, lost
from firstlight.advise.health.evidence import HealthEvidence
from firstlight.advise.health.result import HealthDifference
from firstlight.quantities import counted

#: Arguments of the kernel that switch a protection off.
_OFF = re.compile(
    r"^(?:mitigations=off|nopti|pti=off|nospectre_v[12]|nospec_store_bypass_disable|spectre_v2=off|mds=off|l1tf=off"
    r"|retbleed=off|srbds=off|tsx_async_abort=off|nosmep|nosmap|apparmor=0|selinux=0|audit=0|lockdown=none"
    r"|init_on_alloc=0|init_on_free=0|slab_nomerge=0|module\.sig_enforce=0|lsm=|systemd\.setenv=SYSTEMD_SECCOMP=0)$"
)

_MODULES = "/sys/kernel/security/lsm"


@check(CheckId.VULN, "mitigations")
def mitigations(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """The processor's vulnerabilities are handled as in the baseline."""
    words = [word for word in boot.facts.get("kernel.command_line", "").split() if _OFF.match(word)]
    known = set() if baseline is None else set(baseline.facts.get("kernel.command_line", "").split())
    found = [HealthDifference(word, None, "switches a protection off") for word in words if word not in known]
    now = boot.group("vulnerability.")
    before = {} if baseline is None else baseline.group("vulnerability.")
    if now and before:
        weaker = changed(before, now, "vulnerability.")
        found += [each for each in weaker if not (each.after or "").startswith(("Not affected", "Mitigation"))]
        found += [
            each
            for each in weaker
            if (each.after or "").startswith("Mitigation") and not (each.before or "").startswith("Vulnerable")
        ]
    elif not found:
        raise NoEvidenceError("needs a baseline, and both with a report of the guest")
    return found, counted(len(now), "vulnerability", "vulnerabilities")


@check(CheckId.POLICY, "policy")
def policy(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """Kernel settings and security modules are those of the baseline, and no process may do more."""
    boot, baseline = both_reported(boot, baseline)
    before, now = baseline.group("policy."), boot.group("policy.")
    found = [*lost(before, now, "policy."), *_changed_policy(before, now)]
    processes, then = boot.group("process."), baseline.group("process.")
    for name in sorted(processes.keys() & then.keys()):
        found += _freer(name, then[name], processes[name])
    return found, f"{counted(len(now), 'setting')}, {counted(len(processes), 'kind')} of processes"


def _changed_policy(before: Mapping[str, str], now: Mapping[str, str]) -> list[HealthDifference]:
    """The settings that differ; of the list of security modules, each that is missing."""
    found = changed(before, now, "policy.")
    left = now.get(_MODULES, "").split(",")
    gone = [name for name in before.get(_MODULES, "").split(",") if _MODULES in now and name not in left]
    if not gone:
        return found
    others = [each for each in found if each.subject != f"policy.{_MODULES}"]
    return [*others, *(HealthDifference(f"security module {name}", name, None) for name in gone)]


def _freer(name: str, before: str, after: str) -> list[HealthDifference]:
    """What the processes of a name may do now that none of them might: the least confined of each counts."""
    then, now = _confinement(before), _confinement(after)
    found = []
    for key, was in then.items():
        is_now = now.get(key, was)
        more = bool(is_now & ~was) if key == "CapEff" else is_now < was
        if more:
            shown = (f"{was:#x}", f"{is_now:#x}") if key == "CapEff" else (str(was), str(is_now))
            found.append(HealthDifference(f"process.{name} {key}", *shown))
    return found


def _confinement(text: str) -> dict[str, int]:
    """The weakest confinement among processes: `Uid=0 CapEff=… NoNewPrivs=1 Seccomp=2; …`.

    >>> _confinement("Uid=101 CapEff=0f NoNewPrivs=1 Seccomp=2; Uid=101 CapEff=10 NoNewPrivs=0 Seccomp=2")
    {'CapEff': 31, 'NoNewPrivs': 0, 'Seccomp': 2, 'Uid': 1}
    """
    capabilities, least = 0, {"NoNewPrivs": 1, "Seccomp": 2, "Uid": 1}
    for one in text.split("; "):
        values = dict(pair.partition("=")[::2] for pair in one.split())
        try:
            capabilities |= int(values.get("CapEff", "0") or "0", 16)
            for key in least:
                value = int(values.get(key, "0") or "0")
                least[key] = min(least[key], min(value, 1) if key == "Uid" else value)
        except ValueError:
            continue
    return {"CapEff": capabilities, **least}
