"""Plans of experiments that the workers of a farm boot."""

from __future__ import annotations

#: Two boots, the shortest that there are.
TWO_BOOTS = 'canary = false\n[base]\nprofile = false\n[[arm]]\nname = "a"\n[[arm]]\nname = "b"\nappend = "arm=b"\n'
