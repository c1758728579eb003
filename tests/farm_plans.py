"""Plans of experiments that the workers of a farm boot."""

from __future__ import annotations

from short_boots import SHORT

#: Two boots, the shortest that there are.
TWO_BOOTS = (
    f'canary = false\n[base]\nprofile = false\nappend = "{SHORT}"\n'
    '[[arm]]\nname = "a"\n[[arm]]\nname = "b"\nappend = "arm=b"\n'
)
