"""`firstlight verify`."""


def verify() -> None: ...
