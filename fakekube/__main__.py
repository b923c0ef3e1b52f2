"""``python -m fakekube`` is the command ``fakekube``."""

from fakekube.cli import main

if __name__ == "__main__":
    main()
