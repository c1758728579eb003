"""Targets: architectures, kernels, guest images, machines, and how a boot of them is recorded."""
