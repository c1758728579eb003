"""QEMU: its command line, its options, the rules of exactness, and its confinement."""
