"""Kernels × processors × mitigations × QEMU versions: where the profile was audited, and what came of it."""
