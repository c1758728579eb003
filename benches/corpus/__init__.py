"""Scores the importer: records derived from exact boots and degraded as in practice, compared with the boots."""
