"""The version of the package; results say which one made them."""

__version__ = "0.1.0"
