"""Hints for common mistakes, from the start of files that were not read. Pipes are not reread."""

import re
import shlex
import sys
from functools import partial

import click

from fastsvm_cli.console.files import (
    INDEX_VALUE,
    first_lines,
    first_row,
    has_pairs,
    is_compiled,
    is_model,
    leading_comments,
    start_of,
    without_last_field,
)
from fastsvm_cli.errors import DataFormatError, FileError, ModelFormatError

_DELIMITERS = (",", ";", "\t", "|", " ")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")
_NEAR = 0.7  # difflib ratio: two swapped letters of six, or an extra ending
_THIS_IS_A_RANGE = "this is a range file of svm-scale, which --scale takes"


def hint(error: "DataFormatError | FileError | ModelFormatError", command: str, given: dict) -> "str | None":
    """Return a failed command's hint, or None. given: its parameters."""
    if isinstance(error, FileError):
        alone = command == "predict" and not given.get("dask")
        return _about_several(error.path) if alone and error.path == given["test_file"] else None
    marked = _about_mark(error.path) if error.line == 1 else None
    if (words := marked or _about_words(error)) is not None:
        return words
    if isinstance(error, ModelFormatError):
        return _about_model(error, command, given)
    if error.path in (given.get("scale_file"), given.get("y_scale_file")):
        return _about_range(error)
    if (words := _about_data(error, command, given)) is not None:
        return words
    stops = given.get("on_bad_row") == "stop" and error.path == given["test_file"]
    return "--on-bad-row skip leaves such lines out" if stops and not error.why.endswith(")") else None


#: Part of a message -> command that mends the file, and its effect.
_MENDED = {
    "a NUL byte found": (r"tr -d '\000' <", "leaves it out"),
    "a vertical tab found": (r"tr '\v' ' ' <", "writes blanks"),
    "a form feed found": (r"tr '\f' ' ' <", "writes blanks"),
    "a multi-label line (": (r"sed -E 's/^([^,: ]+),[^:]* /\1 /'", "keeps the first label"),
    "a comment with a ':' found": ("sed 's/#.*//'", "leaves comments out"),
}


def _about_words(error: "DataFormatError | ModelFormatError") -> "str | None":
    path = shlex.quote(error.path) if error.path != "-" else "FILE"
    if "a carriage return found" in error.why:  # of an old Macintosh, if no other line end is there
        to = " " if b"\n" in (start_of(error.path) or b"\n") else r"\n"
        return rf"tr '\r' '{to}' < {path} writes {'blanks' if to == ' ' else 'line ends'}"
    for found, (filter, effect) in _MENDED.items():
        if found in error.why:
            return f"{filter} {path} {effect}"
    return None


def _about_several(path: str) -> "str | None":
    from os.path import exists, isdir, join

    if isdir(path):
        return f"--dask predicts every file of a pattern, as {shlex.quote(join(path, '*'))}, into a folder"
    if exists(path):
        return None
    if "://" in path:
        return "--dask reads a URL, and writes a folder"
    return "--dask predicts every file of a pattern, into a folder" if re.search(r"[*?\[]", path) else None


def _about_mark(path: str) -> "str | None":
    start = start_of(path) or b""
    if start.startswith(b"\xef\xbb\xbf"):
        return f"it begins with a byte order mark, which tail -c +4 {shlex.quote(path)} leaves out"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return f"it is UTF-16, which iconv -f UTF-16 -t ASCII {shlex.quote(path)} turns into text that is read"
    return None


def _about_model(error: ModelFormatError, command: str, given: dict) -> "str | None":
    found = error.path
    if _is_range(found):
        return _THIS_IS_A_RANGE
    if command == "predict":
        exact = given["exact_file"]
        if is_model(given["test_file"]) and (first_lines(found) is None or _is_data(found)):
            return f"the test file comes before the model: {_typed_with(given['test_file'], found)}"
        if exact is not None and is_compiled(exact) and is_model(found) and not is_compiled(found):
            return f"--exact names the exact model, MODEL_FILE the compiled one: {_typed_with(exact, found)}"
        return None
    if command not in ("approx", "border", "order", "reduce") or found != given["model_file"] or not _is_data(found):
        return None
    output = given["output_file"]
    if output is not None and is_model(output) and not is_compiled(output):
        return f"the model comes first, and there is no data: fastsvm {command} {shlex.quote(output)}"
    ways = [f"svm-train {shlex.quote(found)} makes a model of it"] if _is_trainable(found) else []
    if command == "border" and has_pairs(found):
        ways.append("--bandwidth a border without one" if ways else "--bandwidth makes a border of it")
    return ", ".join(ways) or None


def _about_range(error: DataFormatError) -> "str | None":
    if is_model(error.path):
        return "this is a model file"
    if any(map(_DECIMAL_COMMA.fullmatch, (_quoted(error.why) or [""])[0].split())):
        return _written_otherwise(error.path, ["decimal commas"], "")
    words = (first_lines(error.path) or [""])[0].split()
    if error.line != 1 or not any(map(INDEX_VALUE.fullmatch, words)):
        return None
    return f"this looks like data: svm-scale -s RANGE_FILE {shlex.quote(error.path)} writes its range file"


def _about_data(error: DataFormatError, command: str, given: dict) -> "str | None":
    # Errors in the first row, and decimal commas in any row, have hints.
    lines, dense = first_lines(error.path), given.get("dense", False)
    found = (_quoted(error.why) or [""])[0]
    if _DECIMAL_COMMA.fullmatch(found if dense else found.partition(":")[2]):
        return _written_otherwise(error.path, ["decimal commas"], "")
    comments = leading_comments(lines or []) if not dense else 0
    if error.line != comments + 1:
        return None
    if is_model(error.path, dense):
        others = given.get("model_files", ()) if error.path == given.get("test_file") else ()
        rows = next((path for path in others if _is_data(path)), None)
        if rows is None:
            return "this is a model file, expected rows of data"
        return f"the test file comes first: {_typed_with(error.path, rows)}"
    if _is_range(error.path):
        return _THIS_IS_A_RANGE
    lines = _quoted(error.why) if lines is None else lines[comments:]
    if not lines:
        return None
    unlabelled = given.get("unlabelled", False)
    words = lines[0].split()
    pairs = [bool(INDEX_VALUE.fullmatch(word)) for word in words]
    if any(pairs):
        if dense:
            return "these are index:value pairs: leave --dense out"
        if "unlabelled" not in given or not all(pairs[1:]):
            return None
        if pairs[0]:
            return None if unlabelled else "if they have none, add --unlabelled"
        return "the rows have labels: leave --unlabelled out" if unlabelled and _is_number(words[0]) else None
    unusual, plain = _as_numbers(lines[:2])
    heading = False
    delimiter = _delimiter(plain[0])
    if delimiter is None and len(plain) > 1:
        delimiter = _delimiter(plain[1])
        heading = delimiter is not None and _is_heading(_fields(plain[0], delimiter))
        if not heading:
            return None
    if delimiter is None or (dense and not heading and not unusual and delimiter == given["delimiter"]):
        return None
    if "dense" not in given:
        what = "this looks like the heading of" if heading else "these are"
        return f"{what} delimited numbers, and fastsvm {command} reads rows of index:value"
    options = "--dense" + ("" if delimiter == "," else f" --delim {_shown(delimiter)}")
    if unusual:
        return _written_otherwise(error.path, unusual, options, heading)
    if dense and not heading:
        chosen = "leave --delim out" if delimiter == "," else f"add {options.removeprefix('--dense ')}"
        return f"no {_shown(given['delimiter'])} in it, its numbers have {_shown(delimiter)} between them: {chosen}"
    if heading:
        typed = f"tail -n +2 {shlex.quote(error.path)} | fastsvm {command} {options} - ..."
        return f"if this is the heading of delimited numbers: {typed}"
    return f"if these are delimited numbers, add {options}"


def _as_numbers(lines: "list[str]") -> "tuple[list[str], list[str]]":
    # (unusual notations of cells, the lines in plain notation unless a comma is ambiguous)
    unusual, quoted = [], any('"' in line for line in lines)
    if quoted:
        if any("," in cell for line in lines for cell in re.findall('"[^"]*"', line)) and not any(
            ";" in line or "\t" in line for line in lines
        ):
            return [], lines
        unusual, lines = ["quoted cells"], [line.replace('"', "") for line in lines]
    for line in lines:
        for delimiter in (";", "\t", "|", " "):
            cells = _fields(line, delimiter)
            if len(cells) > 1 and any(map(_DECIMAL_COMMA.fullmatch, cells)):
                points = [each.replace(",", ".") for each in lines]
                if _delimiter(points[lines.index(line)]) == delimiter:
                    return [*unusual, "decimal commas"], points
    return unusual, lines


def _written_otherwise(path: str, unusual: "list[str]", options: str, heading: bool = False) -> str:
    filters = {"quoted cells": "tr -d '\"'", "decimal commas": "tr , ."}
    if heading:
        unusual = [*unusual, "a heading"]
        filters["a heading"] = "tail -n +2"
    first, *others = (filters[each] for each in unusual)
    pipeline = " | ".join([f"{first} < {shlex.quote(path)}" if path != "-" else first, *others])
    read = f", for {options}" if options else ""
    return f"{' and '.join(unusual)} found: {pipeline} writes plain numbers{read}"


def _shown(delimiter: str) -> str:
    return r"'\t'" if delimiter == "\t" else f"'{delimiter}'"


def _typed_with(one: str, other: str) -> str:
    swapped = {one: other, other: one}
    return shlex.join(["fastsvm", *(swapped.get(word, word) for word in sys.argv[1:])])


def _delimiter(line: str) -> "str | None":
    for delimiter in _DELIMITERS:
        fields = _fields(line, delimiter)
        if len(fields) > 1 and all(map(_is_number, fields)):
            return delimiter
    return None


def _fields(line: str, delimiter: str) -> "list[str]":
    return line.split() if delimiter == " " else line.split(delimiter)


def _is_heading(fields: "list[str]") -> bool:
    # Names are words, or a word and pandas' 0, 1, ...
    numbered = [str(at) for at in range(len(fields) - 1)]
    return (
        len(fields) > 1 and not _is_number(fields[0]) and (fields[1:] == numbered or not any(map(_is_number, fields)))
    )


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _is_data(path: str) -> bool:
    return has_pairs(path) or _delimiter(first_row(path)) is not None


def _is_trainable(path: str) -> bool:
    lines = first_lines(path) or []
    with open(path, "rb") as file:
        compressed = file.read(len(lines[0].encode())) != lines[0].encode()
    return not compressed and all(
        bool(words) and _is_number(words[0]) and all(map(INDEX_VALUE.fullmatch, words[1:]))
        for words in map(str.split, lines[:-1] or lines)  # the last may be cut off
    )


def _is_range(path: str) -> bool:
    lines = first_lines(path) or []
    return len(lines) > 1 and lines[0] in ("x", "y") and len(lines[1].split()) == 2 and _delimiter(lines[1]) == " "


def _quoted(why: str) -> "list[str]":
    found = re.match(r"'(.*?)(\.\.\.)?' found", why)
    if found is None:
        return []
    return [without_last_field(found[1]) if found[2] else found[1]]


_SVM_TRAIN = ("-s", "-t", "-d", "-g", "-r", "-c", "-n", "-p")


def about_option(written: str, context: click.Context, line: "list[str]") -> str:
    """Return the message about an unknown option, with similar ones, and commands that have it.

    line: the command's words, as click's parser reports -degree as -d.
    """
    own, others = _spellings(context.command.get_params(context)), _others(context)
    known = sorted({*own, *(each for spellings in others.values() for each in spellings)})
    long = [each.partition("=")[0] for each in line if re.match(r"-\w{3}", each) and written[1:] in each]
    written = next((each for each in long if any(_is_near(each, spelling) for spelling in known)), written)
    words = f"No such option '{written}'."
    near = sorted(filter(partial(_is_near, written), own), key=partial(_distance, written))
    if near:
        words += f" Did you mean {_listed([repr(each) for each in near], 'or')}?"
    if not near and written in _SVM_TRAIN:
        return f"{words} svm-train has it, and the model file holds its value."
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
    parent = context.parent
    assert parent is not None and isinstance(parent.command, click.Group)
    found = {name: parent.command.get_command(parent, name) for name in parent.command.list_commands(parent)}
    return {
        name: _spellings(each.params)
        for name, each in found.items()
        if each is not None and each is not context.command
    }


def _is_near(written: str, spelling: str) -> bool:
    one, other = written.lstrip("-"), spelling.lstrip("-")
    if min(len(one), len(other)) < 2:
        return False
    if min(len(one), len(other)) >= 3 and (one.startswith(other) or other.startswith(one)):
        return True
    return _distance(written, spelling) <= 1 - _NEAR


def _distance(written: str, spelling: str) -> float:
    from difflib import SequenceMatcher

    return 1 - SequenceMatcher(None, written.lstrip("-"), spelling.lstrip("-")).ratio()


def _listed(words: "list[str]", last: str) -> str:
    return f" {last} ".join([", ".join(words[:-1])] * (len(words) > 1) + words[-1:])
