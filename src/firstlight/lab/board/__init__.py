"""Boards of a lab: their power, console, boot loader and what is deployed to them."""
