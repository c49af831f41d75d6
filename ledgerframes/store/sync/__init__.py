"""`Store.sync`: finds what is missing, fetches it, decodes it, and commits rows and coverage as one."""
