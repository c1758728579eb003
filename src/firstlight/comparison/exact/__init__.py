"""The exact difference of two boots: every level of it adds up to the change of the whole, in integers."""
