"""Storage with latency: models of disks, what their requests cost, and how a model is fitted to a board's log."""
