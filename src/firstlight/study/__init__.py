"""Studies: questions about start-up time that come with their boots, tables and conclusions, each one command."""
