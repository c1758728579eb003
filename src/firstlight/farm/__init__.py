"""Boots on other machines: a store of jobs and results, workers that take the jobs, and who asks for boots."""
