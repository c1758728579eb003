"""Firstlight: a laboratory for Linux start-up time."""
