"""A second, independent observer of a boot, and how far the recorded profile agrees with it."""
