"""Boots on other machines: a store of jobs and results, the workers, and the sessions that request boots."""
