"""Boots of real boards: a session of them, experiments on them."""
