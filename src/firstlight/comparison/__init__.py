"""Comparisons of boots: exact in integers where the boots are exact, statistics where they are not."""
