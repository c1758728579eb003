"""Health checks: whether a system that came up still works as its baseline does."""
