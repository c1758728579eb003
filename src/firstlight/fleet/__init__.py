"""Fleets: boots of many machines in partitioned Parquet, and what they have in common."""
