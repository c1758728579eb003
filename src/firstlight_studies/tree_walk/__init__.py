"""What one more stat for each directory costs, and who wakes an automount."""
