"""A check of new boots against a baseline, for CI."""
