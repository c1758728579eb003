"""The results of an experiment as tables: cells, effects, interactions, shares."""
