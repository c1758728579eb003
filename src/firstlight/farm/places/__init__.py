"""Where a store can be: a directory, an object store, a directory behind ssh."""
