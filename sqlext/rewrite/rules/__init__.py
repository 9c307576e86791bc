"""Change plans before they become text, by rules in a fixed order (``order``)."""
