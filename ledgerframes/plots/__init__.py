"""Pictures: a frame and an Axes in, the Axes out; imports nothing of the package but its errors."""
