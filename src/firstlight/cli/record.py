"""`firstlight record`."""


def record() -> None: ...
