"""Files of records as they are given: names, limits and private copies."""
