"""The READMEs and the pages beside them: headings, blocks, links and command lines."""

import os
import re
import shlex

from support.paths import ROOT

#: path from the root -> text
PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in [
        ROOT / "README.md",
        *(p for layer in ("fastsvm_cli", "scripts", "data", "tests") for p in ROOT.glob(f"{layer}/**/*.md")),
    ]
}


def sections(text, level):
    """{heading: text up to the next heading of this level or above}; fenced lines are not headings"""
    found, heading, fenced = {}, None, False
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and re.match(rf"#{{1,{level}}} ", line):
            depth, _, heading = line.partition(" ")
            heading = heading if len(depth) == level else None
        elif heading is not None:
            found.setdefault(heading, []).append(line)
    return {heading: "\n".join(lines) for heading, lines in found.items()}


def blocks(text, *languages):
    """Fenced blocks, unindented, as lists of lines."""
    found = re.findall(rf"^( *)```(?:{'|'.join(languages)})\n(.*?)^ *```$", text, re.M | re.S)
    return [[line[len(indent) :] for line in block.split("\n")[:-1]] for indent, block in found]


def prose(text):
    """Lines outside fences, with their numbers."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        marks = line.lstrip().startswith("```")
        if not fenced and not marks:
            yield number, line
        fenced ^= marks


def inline(text):
    """Code in backticks; broken lines joined."""
    unfenced = "\n".join(line for _, line in prose(text))
    return [" ".join(code.split()) for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", unfenced)]


def stages(line):
    """Commands of a line, as words without redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    commands, words = [[]], list(lexer)
    while words:
        word = words.pop(0)
        if word in ("|", "&&", "||", ";"):
            commands.append([])
        elif word in (">", ">>", "<"):
            words.pop(0)
        else:
            commands[-1].append(word)
    return commands


def command_lines(text):
    """All lines of shell."""
    lines = [line[2:] for block in blocks(text, "console") for line in block if line.startswith("$ ")]
    return lines + [line for block in blocks(text, "sh") for line in block]


def anchors(page):
    return {
        re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
        for _, line in prose(PAGES[page])
        if line.startswith("#")
    }


def links(page):
    """(target, its path from the root, its anchor) of every link within the project"""
    for target in re.findall(r"\]\(([^)]+)\)", PAGES[page]):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            position = (ROOT / page).parent / path if path else ROOT / page
            position = position / "README.md" if position.is_dir() else position
            yield target, os.path.relpath(position, ROOT), anchor
