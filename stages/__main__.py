"""`python -m stages NAME`: the same commands as `weighbridge NAME`."""

from stages.cli import main

if __name__ == "__main__":
    main()
