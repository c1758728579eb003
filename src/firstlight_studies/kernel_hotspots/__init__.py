"""Which hot spots lie between start_kernel and user mode, and what each remedy saves and breaks."""
