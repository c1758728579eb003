"""Captures the console of a board: its bytes, each chunk with the instant at which it was read."""
