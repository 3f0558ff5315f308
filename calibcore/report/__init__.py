"""Results in words and tables: what the shell prints and the page shows."""
