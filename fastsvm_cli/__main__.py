"""Run the command: ``python -m fastsvm_cli``."""

from fastsvm_cli.start import run

if __name__ == "__main__":
    run()
