"""The lake: a history kept on disk or object storage, brought up to date by `sync`, and never wrong."""
