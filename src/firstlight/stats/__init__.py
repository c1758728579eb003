"""Statistics of noisy figures: estimates, tests, change points and fits. Pure functions."""
