"""Boot records from files, folders and archives become a bundle."""
