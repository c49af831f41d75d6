"""The compiled decoder of pages of updates: C++ sources and, once built, the module `_decoder`."""
