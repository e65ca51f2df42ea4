"""models/FORMAT.md matches the files that the models write."""

import re

from fastsvm_cli._native import Header
from support.damage import COMPILED_KINDS
from support.pages import PAGES, blocks, sections
from support.paths import GOLDEN

#: The versions of compiled models: without, and with an embedded range.
FORMAT_VERSION, CARRYING_VERSION = 2, 3
FORMAT = PAGES["fastsvm_cli/models/FORMAT.md"]


def _own_words(lines):
    """First words of lines, beyond LIBSVM's header, each once and in order."""
    first = [line.split()[0] for line in lines if re.match(r"[a-z_]+(?= |$)", line)]
    libsvm = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (.*?) \|", FORMAT, re.M)))
    return list(dict.fromkeys(word for word in first if word not in libsvm and not word.startswith("svm_")))


def _golden(kind, version):
    for path in sorted(GOLDEN.rglob("*")):
        if path.is_file() and path.read_bytes().startswith(f"fastsvm_model {kind} {version}\n".encode()):
            yield path


def test_the_format_of_every_kind_is_described():
    """Version 3 adds words before the embedded texts."""
    wrong = []
    for kind in COMPILED_KINDS:
        (block,) = blocks(sections(FORMAT, 3)[kind], "text")
        described, met = _own_words(block), set()
        for path in _golden(kind, FORMAT_VERSION):
            words = _own_words(path.read_text().split("\n"))
            met |= set(words)
            wrong += [path.name] * (words != [word for word in described if word in words])
        wrong += [kind] * (met != set(described) or block[0] != f"fastsvm_model {kind} {FORMAT_VERSION}")
        (path,) = _golden(kind, CARRYING_VERSION)
        words = _own_words(path.read_text().split("\n"))
        added = ["range", *["y"] * ("y" in words), "x", "checksum", "end"]
        wrong += [path.name] * (words[words.index("range") :] != added)
    assert not wrong
    (block,) = blocks(sections(FORMAT, 2)[f"Version {CARRYING_VERSION}"], "text")
    assert block[0].split()[-1] == str(CARRYING_VERSION)
    assert _own_words(block[1:]) == ["range", "x", "y_range", "checksum", "end"]


def test_every_kind_and_every_version_of_the_format_is_described():
    assert set(COMPILED_KINDS) <= set(sections(FORMAT, 3))
    assert {f"Version {number}" for number in range(FORMAT_VERSION, CARRYING_VERSION + 1)} <= set(sections(FORMAT, 2))
    for first, name in (("fastsvm_reduced", "c_svc.reduced"), ("fastsvm_folded", "epsilon_svr.folded")):
        (line,) = (block for block in blocks(FORMAT, "text") if block[0].startswith(first))
        words = (GOLDEN / "version2" / name).read_text().split("\n")[-2].split()
        assert len(line[0].split()) == len(words)  # for one pair of classes


def test_every_key_of_libsvms_header_is_described():
    one, two = [1.0], [1, 1]
    whole = Header("c_svc", "polynomial", 2, 2, one, 3, 1.0, 1.0, two, one, one, [1.0] * 10, two)
    keys = {line.split()[0] for line in whole.lines().splitlines()}
    table = sections(FORMAT, 2)["LIBSVM's header"]
    assert keys == set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", table, re.M))))
