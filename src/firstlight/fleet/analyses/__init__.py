"""What is asked of a fleet. Each analysis is one expression over `boots` and `spans`, and a little arithmetic."""
