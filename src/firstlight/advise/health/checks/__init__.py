"""The checks, by what they look at. Each takes the evidence of a boot, that of its baseline if any, and the expected
differences."""
