"""`python -m ledgerframes`: the command line if no `ledgerframes` is on the path."""

from ledgerframes.cli import main

if __name__ == "__main__":
    main()
