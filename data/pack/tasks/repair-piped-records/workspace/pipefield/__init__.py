"""Reading of piped exports."""
