"""The host's part in a recording: processes, packages, confinement and progress."""
