"""What the benchmarks share: boots that are measured, load on the host, figures with their spread."""
