"""Kernels: their files, modules, symbols and packages, and the build of one."""
