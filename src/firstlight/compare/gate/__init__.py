"""A boot against its baseline and its budget."""
