"""Run the new version of a query beside the old one, compare their rows, and make it the current one."""
