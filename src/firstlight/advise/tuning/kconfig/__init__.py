"""Finds the smallest configuration of a kernel that a system needs: builds it, boots it, checks its health."""
