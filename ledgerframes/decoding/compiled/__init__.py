"""The compiled decoder of pages of updates: C++ sources, and where it was built the module `_decoder`."""
