"""What the host does for a recording: processes, packages, confinement and progress."""
