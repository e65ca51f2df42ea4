"""A click group with options of every form, for stored screens of help, man pages and completion."""

import click


@click.group()
def fastsvm():
    """Do 'a' and `b` \\ ^ ~ -c.

    'Quoted at the start. x

    \b
      .TH of an example
        'further in - and on
    """


@fastsvm.command()
@click.option("-w", "--width", metavar="adaptive|H", help="A number. Or what the rows say.")
@click.option("--scale", metavar="RANGE_FILE", help=f"How the rows are scaled (as {'svm-scale ' * 9}has it).")
@click.option("--steps", type=int, metavar="N", help=f"At most: {'as many as it takes, and ' * 4}no more.")
@click.option("--at-least", type=click.IntRange(1), metavar="N", help="A least value.")
@click.option("--limited", "-n", type=click.IntRange(1, 2000), metavar="K", help="Two limits.")
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), metavar="X", help="An open limit.")
@click.option("--three", default=3, metavar="N", show_default=True, help="A default.")
@click.option("--twenty", default=20.0, metavar="X", show_default=True, help="A default without its point.")
@click.option("--switch", type=click.IntRange(0, 1), metavar="0|1", default=0, show_default=True, help="No limits.")
@click.option("--choice", type=click.Choice(["a", "b"]), show_default="b of c", help="A default in words.")
@click.option("--long", metavar="TEXT", show_default="what " * 9, help="A long default.")
@click.option("--all", is_flag=True, help="Rows: all.")
@click.option("--odd", metavar="A|B", help=".dot first, \\fBnot bold\\fR", default=1, show_default=True)
@click.argument("rows")
@click.argument("model_file")
@click.argument("out", required=False)
def one(**_):
    """One."""
