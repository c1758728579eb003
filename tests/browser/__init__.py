"""Tests of the report page in a real browser."""
