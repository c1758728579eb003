"""QEMU: its command line, its options, what makes it exact, and how it is confined."""
