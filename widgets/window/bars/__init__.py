"""Frame the window: menus, palette, buttons, messages, help."""
