"""The fastsvm command."""

import os
import sys
import warnings
from typing import Any

import click

from fastsvm_cli import __version__
from fastsvm_cli.errors import FastsvmError, FastsvmWarning, FileError

#: Commands, in help order. Each is a module of commands/ with a click command named `command`.
COMMANDS = ("approx", "predict", "bound", "bench", "cascade", "reduce", "order", "border", "export")


#: Words that are not commands, and hints.
_ELSEWHERE = {
    "help": " Type fastsvm --help, or fastsvm COMMAND --help.",
    "scale": " LIBSVM's svm-scale scales data.",
    "train": " LIBSVM's svm-train trains models.",
}


class _Lazy(click.Group):
    """Group that imports a command's module on first use."""

    def get_help(self, context: click.Context) -> str:
        from fastsvm_cli.console.help_page import help_page

        return help_page(self, context)

    def list_commands(self, context: click.Context) -> "list[str]":
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> "click.Command | None":
        if name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(name.lower(), COMMANDS, 1)
            if name.startswith("-"):
                return None
            words = _ELSEWHERE.get(name, f" Did you mean '{near[0]}'?" if near else "")
            context.fail(f"No such command '{name}'.{words}")
        from importlib import import_module

        return import_module(f"fastsvm_cli.commands.{name}").command


#: Completion script of each shell in the installed share/; scripts/make_shell_files.py makes them.
COMPLETIONS = {
    "bash": "bash-completion/completions/fastsvm",
    "zsh": "zsh/site-functions/_fastsvm",
    "fish": "fish/vendor_completions.d/fastsvm.fish",
}


#: Packages that a broken installation may lack.
_REQUIRED = ("numpy", "scipy", "rich")


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="fastsvm", message="%(prog)s %(version)s")
def fastsvm() -> None:
    """Predict with LIBSVM models, many times as fast as svm-predict.

    \b
      svm-train train                              train with LIBSVM
      fastsvm predict test train.model out         any model; svm-predict's labels
      fastsvm bound train.model                    is gamma below gamma_MAX? Then:
      fastsvm approx train.model                   writes train.model.approx
      fastsvm predict test train.model.approx out  faster still; few labels change
    """


def _show_warning(message: "Warning | str", category: "type[Warning]", *where: Any, **more: Any) -> None:
    if issubclass(category, FastsvmWarning):
        print(f"Warning: {message}", file=sys.stderr)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, *where[:2]))


def main(failure: "Exception | None" = None) -> None:
    """Run the command. failure: the error in which the core's run of it ended.

    Exit codes: 0 success, 1 error, 2 wrong usage, 3 a given limit is exceeded, 128 + signal number. A closed pipe is 0:
    its reader has read enough.
    """
    warnings.showwarning = _show_warning
    try:
        if "_FASTSVM_COMPLETE" in os.environ:
            print(_completion(os.environ["_FASTSVM_COMPLETE"]), end="")
            sys.exit(_flush(0))
        # click's own main() would fail when the reader closes the pipe.
        with fastsvm.make_context("fastsvm", sys.argv[1:], obj=failure) as context:
            fastsvm.invoke(context)
        code = 0
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = 130
    except FastsvmError as error:
        code = _failed(error)
    except BrokenPipeError:
        code = 0
    except OSError as error:  # standard output's: other files raise FileError
        code = _failed(FileError(error.filename or "standard output", error))
    except MemoryError:
        code = _failed("out of memory")
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in _REQUIRED:
            raise
        code = _failed(f"{name}: it is not installed, and this command needs it: pip install {name}")
    except ImportError as error:
        if not str(error).startswith("FASTSVM_INSTRUCTIONS: "):  # raised by the core, which reads that variable
            raise
        _failed(error)
        code = 2
    sys.exit(_flush(code))


def _failed(why: object) -> int:
    print(f"Error: {why}", file=sys.stderr)
    return 1


def _completion(wish: str) -> str:
    """Return the script that e.g. bash_source requests."""
    shell, _, what = wish.partition("_")
    if shell not in COMPLETIONS or what != "source":
        expected = ", ".join(f"{each}_source" for each in COMPLETIONS)
        raise click.UsageError(f"_FASTSVM_COMPLETE is '{wish}', expected one of {expected}.")
    own = os.path.dirname(os.path.dirname(os.path.realpath(sys.argv[0])))  # of bin/fastsvm
    paths = [os.path.join(folder, "share", COMPLETIONS[shell]) for folder in (own, sys.prefix)]
    path = next(filter(os.path.exists, paths), paths[0])
    try:
        with open(path) as file:
            return file.read()
    except OSError as error:
        raise FileError(path, error) from None


def _flush(code: int) -> int:
    try:
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError) and code == 0:
            code = _failed(FileError("standard output", error))
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter reports an error
    return code
