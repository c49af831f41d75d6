"""The history as objects: compressed files of updates, from a scan, a folder or object storage. The layer is young."""
