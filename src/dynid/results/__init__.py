"""Result folders: saved, loaded, compared."""
