"""What runs in the guest, as the host knows it: its report, its facts, and hints for a boot that failed."""
