"""Looking at a session more than once: how the error of all looks together stays bounded."""

from __future__ import annotations

from firstlight.errors import UsageError

#: Beyond it no test of a few boots can be significant.
MOST_LOOKS = 10


def look_level(alpha: float, look: int | None) -> float:
    """The level of one of several looks at the same arms, to which boots are added from look to look.

    The levels of all looks add up to *alpha*, so that their error does, however many there will be and whatever is
    tested. None: the number of boots was fixed before, and this is the only look.

    :param look: counted from 1.
    :raises UsageError: for a look that cannot be.

    Source: alpha spending (Lan and DeMets 1983), half of what is left at each look; valid by Bonferroni's inequality.

    >>> look_level(0.05, None), look_level(0.05, 1), look_level(0.05, 2)
    (0.05, 0.025, 0.0125)
    """
    if look is None:
        return alpha
    if not 1 <= look <= MOST_LOOKS:
        raise UsageError(f"a look is counted from 1 to {MOST_LOOKS}", where="--look", hint="collect more boots a look")
    return float(alpha / 2**look)
