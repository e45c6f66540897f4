"""Make the main window: menus, docks, files, the controller."""
