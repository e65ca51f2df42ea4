"""What is said of an option that a command does not have: those that are nearly written so, and who has it."""

import re
from functools import partial

import click

_NEAR = 0.7  # of difflib's ratio: two letters that changed places in a word of six, or an ending too much


def about(written: str, context: click.Context, line: "list[str]") -> str:
    """written: what was found, with its dashes. context: of the command. line: its words; there may be -degree, of
    which the parser says that there is no -d."""
    own, others = _spellings(context.command.get_params(context)), _others(context)
    known = sorted({*own, *(each for spellings in others.values() for each in spellings)})
    long = [each.partition("=")[0] for each in line if re.match(r"-\w{3}", each) and written[1:] in each]
    written = next((each for each in long if any(_is_near(each, spelling) for spelling in known)), written)
    words = f"No such option '{written}'."
    near = sorted(filter(partial(_is_near, written), own), key=partial(_distance, written))
    if near:
        words += f" Did you mean {_listed([repr(each) for each in near], 'or')}?"
    having = [name for name, spellings in others.items() if written in spellings]
    what = written
    if not having and not near:
        what = min(filter(partial(_is_near, written), known), key=partial(_distance, written), default="")
        having = [name for name, spellings in others.items() if what in spellings]
    if having:
        words += f" {_listed(having, 'and')} {'has' if len(having) == 1 else 'have'} {what}."
    return words


def _spellings(parameters: "list[click.Parameter]") -> "list[str]":
    return [word for each in parameters if isinstance(each, click.Option) for word in each.opts]


def _others(context: click.Context) -> "dict[str, list[str]]":
    """The options of the other commands of its group."""
    group = context.parent.command if context.parent is not None else None
    if context.parent is None or not isinstance(group, click.Group):
        return {}
    found = {name: group.get_command(context.parent, name) for name in group.list_commands(context.parent)}
    return {
        name: _spellings(each.params)
        for name, each in found.items()
        if each is not None and each is not context.command
    }


def _is_near(written: str, spelling: str) -> bool:
    """Of words, not letters: a slip apart, or the beginning of one another."""
    one, other = written.lstrip("-"), spelling.lstrip("-")
    if min(len(one), len(other)) < 2:
        return False
    if min(len(one), len(other)) >= 3 and (one.startswith(other) or other.startswith(one)):
        return True
    return _distance(written, spelling) <= 1 - _NEAR


def _distance(written: str, spelling: str) -> float:
    """0 of equal words, 1 of those that share nothing."""
    from difflib import SequenceMatcher

    return 1 - SequenceMatcher(None, written.lstrip("-"), spelling.lstrip("-")).ratio()


def _listed(words: "list[str]", last: str) -> str:
    """a, b and c."""
    return f" {last} ".join([", ".join(words[:-1])] * (len(words) > 1) + words[-1:])
