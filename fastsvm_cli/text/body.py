"""What every kind of compiled model has in its file, and how it is read: the kind's own keys among LIBSVM's, and the
body behind the header."""

from array import array
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.text.header import Header, one_word, read_header, real_number, whole_number

_Number = TypeVar("_Number", int, float)


class OwnKeys:
    """The keys of a kind of model, beside LIBSVM's. Every reader raises ModelFormatError, with the key's line, where it
    finds something else.

    found: {key: (words, line)}; keys that may be left out are missing from it.
    """

    def __init__(self, found: "dict[str, tuple[list[str], int]]", path: str):
        self._found, self._path = found, path

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def words(self, key: str) -> "tuple[list[str], int]":
        """(the words behind the key, its line)"""
        return self._found[key]

    def word(self, key: str, choices: "tuple[str, ...]" = ()) -> str:
        """Its only word; one of `choices`, where there are any."""
        words, line = self._found[key]
        return one_word(words, key, self._path, line, choices)

    def whole(self, key: str, least: "int | None" = None, most: "int | None" = None) -> int:
        """Its only word, a whole number; from `least`, where that is given, to `most`."""
        number = whole_number(self.word(key), key, self._path, self._found[key][1])
        if least is not None and (number < least or (most is not None and number > most)):
            self.fail(key, f"{key} {number} found, expected {least} {'or more' if most is None else f'to {most}'}")
        return number

    def real(self, key: str) -> float:
        """Its only word, a finite number."""
        return real_number(self.word(key), key, self._path, self._found[key][1])

    def each(self, key: str, count: int, read: "Callable[[str, str, str, int], _Number]") -> "list[_Number]":
        """Its words, of which there must be so many, each as `read` (whole_number, real_number) takes it."""
        words, line = self._found[key]
        if len(words) != count:
            self.fail(key, f"{len(words)} values of '{key}' found, expected {count}")
        return [read(word, key, self._path, line) for word in words]

    def fail(self, key: str, why: str) -> NoReturn:
        """Raise ModelFormatError for the key's line."""
        raise ModelFormatError(self._path, why, self._found[key][1])


class Body:
    """Where reading goes on in a model file behind its header. Every reader moves on behind what it reads, and raises
    ModelFormatError, with the line's number, where it finds something else.

    text: the whole file's content. at: the offset of what comes next.
    """

    def __init__(self, text: bytes, path: str, at: int):
        self.text, self.path, self.at = text, path, at

    def vectors(self, header: Header, more: int = 0) -> _native.Chunk:
        """The support vectors that the header announces, and `more` rows like them."""
        # The last row ends in a line end, or the file was cut off inside it and nothing else would show it.
        whole = self.text.rfind(b"\n") + 1
        text = self.text if whole == len(self.text) else self.text[:whole]
        wanted, first_line = header.total_sv + more, self._line_of(self.at)
        vectors, fault, _, self.at = _native.parse(
            text,
            first_line=first_line,
            leading_count=header.nr_class - 1,
            offset=self.at,
            max_rows=wanted,
            leading_name="a coefficient",
            plain_comments=True,
        )
        if fault is not None:
            raise ModelFormatError(self.path, fault[1], fault[0])
        if vectors.rows < wanted:
            where = "the last one is cut off" if whole < len(self.text) else "the file ends"
            raise ModelFormatError(
                self.path,
                f"{vectors.rows} support vectors found, expected {wanted}: {where}",
                first_line + vectors.rows,
            )
        return vectors

    def rows(self, count: int) -> _native.Chunk:
        """The next `count` rows of data, with their labels."""
        first_line = self._line_of(self.at)
        rows, fault, _, self.at = _native.parse(self.text, first_line=first_line, offset=self.at, max_rows=count)
        # The line `end` is no row; where it is met among them, rows are missing.
        if rows.rows < count and (fault is None or self.text[self.at :] == b"end\n"):
            raise ModelFormatError(self.path, f"{rows.rows} rows found, expected {count}", first_line + rows.rows)
        if fault is not None:
            raise ModelFormatError(self.path, fault[1], fault[0])
        return rows

    def numbers(self, count: int, *, single: bool = False) -> "Sequence[float]":
        """The next `count` numbers, which fill whole lines, as a buffer of float64. single: they are in the range of
        single precision."""
        if not count:
            return array("d")
        try:
            numbers, self.at = _native.parse_numbers(self.text, self.at, count, single)
        except ValueError as error:
            what, where = error.args
            self.fail(f"{what} among {count} numbers", where)
        return numbers

    def whole_numbers(self, count: int, limit: int) -> "list[int]":
        """The next `count` numbers, which fill whole lines, each of them whole, 0 or more, and below `limit`."""
        start = self.at
        numbers = self.numbers(count)
        for number in numbers:
            if not (0 <= number < limit and number == int(number)):
                self.fail(f"{number:g} found, expected a whole number below {limit}", start)
        return [int(number) for number in numbers]

    def record(self, word: str, fields: int = 0) -> "list[int]":
        """The next line: this word, and so many whole numbers of 0 or more, which are returned."""
        start, stop = self.at, self.text.find(b"\n", self.at)
        words = self.text[start:stop].split()
        if words[:1] != [word.encode()] or len(words) != fields + 1 or not all(each.isdigit() for each in words[1:]):
            self.fail(f"'{self.text[start:stop][:40].decode('ascii', 'replace')}' found, expected '{word}'", start)
        self.at = stop + 1
        return [int(each[:10]) for each in words[1:]]  # more digits are too many anyway

    def begins_with(self, word: str) -> bool:
        """Whether the next line is a record of this word, or is meant as one."""
        return self.text.startswith(f"{word} ".encode(), self.at)

    def end(self, after: str = "") -> None:
        """The line `end`, behind which there is nothing. after: what must have been all, for the message."""
        if after and self.text[self.at : self.at + 4] != b"end\n":
            self.fail(f"text found after {after}", self.at)
        self.record("end")
        if self.at != len(self.text):
            self.fail("text found after 'end'", self.at)

    def fail(self, why: str, at: int) -> NoReturn:
        """Raise ModelFormatError for what stands at this offset."""
        raise ModelFormatError(self.path, why, self._line_of(at))

    def line(self) -> int:
        """The number of the line that comes next."""
        return self._line_of(self.at)

    def _line_of(self, at: int) -> int:
        return _native.count_lines(memoryview(self.text)[:at]) + 1


def read_compiled(
    text: bytes, path: str, *, end: str, keys: "Sequence[str]", optional: "Sequence[str]" = ()
) -> "tuple[Header, OwnKeys, Body]":
    """The header of a compiled model and what stands behind its last line, the word `end`. The first line, which
    says the kind, was read (checksum.open_compiled). keys: of this kind, all there; optional: of this kind, too.
    Raises ModelFormatError."""
    header, own, offset, line = read_header(
        text, path, end=end, own_keys=(*keys, *optional), offset=text.find(b"\n") + 1, first_line=2
    )
    for key in keys:
        if key not in own:
            raise ModelFormatError(path, f"the header ends without '{key}'", line)
    return header, OwnKeys(own, path), Body(text, path, offset)


def ranges(features: "list[int]") -> str:
    """The words of the line `features`, increasing LIBSVM indices: 1 2 3 7 -> 1:3 7"""
    out, first = [], None
    for at, index in enumerate(features):
        if first is None:
            first = index
        if at + 1 == len(features) or features[at + 1] != index + 1:
            out.append(f"{first}:{index}" if index > first else str(index))
            first = None
    return " ".join(out)


def read_ranges(words: "list[str]", line: int, path: str, limit: int = 2**31) -> "list[int]":
    """1:3 7 -> 1 2 3 7. limit: bytes of the file, which holds a number per feature."""
    out: list[int] = []
    for word in words:
        first, _, last = word.partition(":")
        low = whole_number(first, "features", path, line)
        high = whole_number(last, "features", path, line) if last else low
        if low < 0 or high < low or (out and low <= out[-1]):
            raise ModelFormatError(path, f"features '{word[:40]}' found, expected increasing indices", line)
        if len(out) + high - low >= limit:
            raise ModelFormatError(path, f"features '{word[:40]}' found, more than the file has numbers for", line)
        out.extend(range(low, high + 1))
    return out
