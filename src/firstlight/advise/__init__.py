"""What to do about a boot: known causes, remedies, health checks, tuning.

:mod:`~firstlight.advise.entry` is the schema of an entry of the catalogue, with its
:class:`~firstlight.advise.entry.Remedy`. :func:`~firstlight.advise.read.catalogue` reads the entries,
:func:`~firstlight.advise.findings.explain` finds them in a boot, and :func:`~firstlight.advise.apply.with_remedy`
makes of a recording's choices those with a remedy. :mod:`~firstlight.advise.health` has the health checks.
"""
