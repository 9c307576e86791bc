"""Change plans before they become text: one rule a file, in a fixed order."""
