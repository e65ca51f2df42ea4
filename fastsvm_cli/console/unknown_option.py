"""What is said of an option that a command does not have: those that are nearly written so, and who has it."""

from functools import partial

import click

_NEAR = 0.7  # of difflib's ratio: two letters that changed places in a word of six, or an ending too much


def about(written: str, context: click.Context) -> str:
    """written: what the command line has, with its dashes. context: of the command."""
    words = f"No such option '{written}'."
    near = sorted(filter(partial(_is_near, written), _spellings(context.command)), key=partial(_distance, written))
    if near:
        words += f" Did you mean {_listed([repr(each) for each in near], 'or')}?"
    others = _others(context)
    having = [name for name, spellings in others.items() if written in spellings]
    what = written
    if not having and not near:
        every = {each for spellings in others.values() for each in spellings if _is_near(written, each)}
        what = min(every, key=lambda each: (_distance(written, each), each), default="")
        having = [name for name, spellings in others.items() if what in spellings]
    if having:
        words += f" {_listed(having, 'and')} {'has' if len(having) == 1 else 'have'} {what}."
    return words


def _spellings(command: click.Command) -> "list[str]":
    return [word for each in command.params if isinstance(each, click.Option) for word in each.opts]


def _others(context: click.Context) -> "dict[str, list[str]]":
    """The options of the other commands of its group."""
    group = context.parent.command if context.parent is not None else None
    if context.parent is None or not isinstance(group, click.Group):
        return {}
    found = {name: group.get_command(context.parent, name) for name in group.list_commands(context.parent)}
    return {name: _spellings(each) for name, each in found.items() if each is not None and each is not context.command}


def _is_near(written: str, spelling: str) -> bool:
    """Of long options: a slip apart, or the beginning of one another."""
    one, other = written.removeprefix("--"), spelling.removeprefix("--")
    if one == written or other == spelling:
        return False
    if min(len(one), len(other)) >= 3 and (one.startswith(other) or other.startswith(one)):
        return True
    return _distance(written, spelling) <= 1 - _NEAR


def _distance(written: str, spelling: str) -> float:
    """0 of equal words, 1 of those that share nothing."""
    from difflib import SequenceMatcher

    return 1 - SequenceMatcher(None, written.removeprefix("--"), spelling.removeprefix("--")).ratio()


def _listed(words: "list[str]", last: str) -> str:
    """a, b and c."""
    return f" {last} ".join([", ".join(words[:-1])] * (len(words) > 1) + words[-1:])
