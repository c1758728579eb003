"""Tables of results, for every renderer."""
