"""Write files into a folder, exactly once."""
