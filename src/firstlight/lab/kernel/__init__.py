"""Kernels: their files, modules, symbols and packages, and how one is built."""
