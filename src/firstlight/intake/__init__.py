"""What boot records come from: files, folders, archives, standard input; read safely, and kept as they came."""
