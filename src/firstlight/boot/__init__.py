"""A boot as Python sees it."""
