"""Views of a frame. A view is ONE file in this package that exports ONE constant, VIEW (a ViewSpec)."""
