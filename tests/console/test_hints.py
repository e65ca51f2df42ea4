"""Plain mistakes: the error says what was found, and what to type instead."""

import gzip
import re
import shlex
import subprocess

import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from support import forked
from support.compiling import compile_all
from support.messages import ADD_DENSE, DATA_FILE, SKIPPED, sentences
from support.paths import DATA, FASTSVM
from support.processes import outcome


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Rows: rows, bare (without labels), n.csv, n.tsv, n.scsv, n.blank, head.csv (with a heading), wide.csv (a line too
    long to examine), rows.gz and commented (which svm-train refuses). Models: m, fast, "my model". A range file, and a
    page that is none of these."""
    folder = tmp_path_factory.mktemp("hints")
    svm_save_model(str(folder / "m"), svm_train(*svm_read_problem(str(DATA / "rings.train")), "-q -g 0.2 -c 10"))
    (folder / "my model").write_bytes((folder / "m").read_bytes())
    compile_all(folder, "approx --certify m fast")
    lines = [line.split() for line in (DATA / "rings.test").read_text().splitlines()[:20]]
    (folder / "rows").write_text("".join(" ".join(line) + "\n" for line in lines))
    (folder / "bare").write_text("".join(" ".join(line[1:]) + "\n" for line in lines))
    for name, delimiter in (("csv", ","), ("tsv", "\t"), ("scsv", ";"), ("blank", " ")):
        (folder / f"n.{name}").write_text(
            "".join(delimiter.join(["1", "0.25", "-0.5", "1e-3", "0"]) + "\n" for _ in range(3))
        )
    (folder / "head.csv").write_text("label,width,height\n1,0.5,0.25\n")
    (folder / "wide.csv").write_text((",".join(["1"] + ["0.12345"] * 2000) + "\n") * 2)
    (folder / "one.csv").write_text("1,0.5")
    (folder / "rows.gz").write_bytes(gzip.compress((folder / "rows").read_bytes()))
    (folder / "commented").write_text("# rows\n" + (folder / "rows").read_text())
    (folder / "range").write_text("x\n-1 1\n1 -2.5 3\n2 0 1e3\n")
    (folder / "page").write_text('<a href="http://x"/>\n')
    return folder


def errors(directory, *words, code=1, input=None):
    done = forked.fastsvm(words, cwd=directory, input=input)
    assert done.returncode == code and done.stdout == b"", done
    return done.stderr.decode()


@pytest.mark.full(few=2)
@pytest.mark.parametrize("words, message", sentences("hints"))
def test_the_mistake_is_told_in_one_line(directory, words, message):
    first = (directory / "rows").read_text().split()
    message = message.replace("LABEL", first[0]).replace("PAIR", first[1]).replace("'CSV'", "'1,0.25,-0.5,1e-3,0'")
    assert errors(directory, *(word.replace("=", " ") for word in words.split())) == f"Error: {message}\n"


COMMAS = "decimal commas found: tr , . < {} writes plain numbers"
QUOTES = "quoted cells found: tr -d '\"' < {} writes plain numbers, for --dense"


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "text, options, message",
    [
        ("1 1:0.5\n1 1:0,5\n", "", f":2: '1:0,5' found, expected index:value; {COMMAS}"),
        ("1;2\n1;0,5\n", "--dense --delim ;", f":2: '0,5' found, expected a number; {COMMAS}"),
        ("1;0,5\n", "", f":1: '1;0,5' found, expected a label; {COMMAS}, for --dense --delim ';'"),
        ("1;0,5\n", "--dense", f":1: '1;0' found, expected a label; {COMMAS}, for --dense --delim ';'"),
        ("1\t0,5\n", "", rf":1: '0,5' found, expected index:value; {COMMAS}, for --dense --delim '\t'"),
        ("1 0,5e3\n", "", f":1: '0,5e3' found, expected index:value; {COMMAS}, for --dense --delim ' '"),
        ('"1","0.5"\n', "", f""":1: '"1","0.5"' found, expected a label; {QUOTES}"""),
        ('"1","0.5"\n', "--dense", f""":1: '"1"' found, expected a label; {QUOTES}"""),
        (
            '"1";"0,5"\n',
            "--dense",
            """:1: '"1";"0' found, expected a label; quoted cells and decimal commas found: """
            """tr -d '"' < {} | tr , . writes plain numbers, for --dense --delim ';'""",
        ),
        (
            '"y","a"\n"1","0.5"\n',
            "--dense",
            """:1: '"y"' found, expected a label; quoted cells and a heading found: """
            """tr -d '"' < {} | tail -n +2 writes plain numbers, for --dense""",
        ),
        (
            '"1","0,5"\n',
            "--dense",
            f""":1: '"1"' found, expected a label{SKIPPED}""",
        ),  # a filter cannot tell the commas apart
    ],
)
def test_numbers_that_are_written_otherwise(directory, tmp_path, text, options, message):
    path = tmp_path / "odd"
    path.write_text(text)
    printed = errors(directory, "predict", *options.split(), str(path), "m", "/dev/null")
    assert printed == f"Error: {path}{message.format(path)}\n"
    if "writes plain numbers" in printed:  # the advice works
        command = re.search("found: (t[^:]*) writes", printed)[1]
        plain = subprocess.run(command, shell=True, capture_output=True, check=True).stdout
        (tmp_path / "plain").write_bytes(plain)
        typed = re.search(r"for (--dense.*)\n", printed)
        options = shlex.split(typed[1]) if typed else options.split()
        subprocess.run(
            [FASTSVM, "predict", "-q", *options, tmp_path / "plain", "m", "/dev/null"], cwd=directory, check=True
        )


@pytest.mark.parametrize("text", ["x\n-1 1\n1 0,5 1,5\n", "x\n-1,0 1,0\n1 0.5 1.5\n", "1 0.5 1,5e-1\n"])
def test_decimal_commas_of_a_range_file(directory, tmp_path, text):
    (tmp_path / "odd").write_text(text)
    printed = errors(directory, "predict", "--scale", str(tmp_path / "odd"), "rows", "m", "/dev/null")
    assert printed.endswith(f"; {COMMAS.format(tmp_path / 'odd')}\n")


@pytest.mark.full
def test_several_files_are_for_dask(directory, tmp_path):
    (tmp_path / "folder").mkdir()
    for name, message in (
        ("folder", "folder: Is a directory; --dask predicts every file of a pattern, as 'folder/*', into a folder"),
        ("ro*", "ro*: No such file or directory; --dask predicts every file of a pattern, into a folder"),
        ("s3://a/b", "s3://a/b: No such file or directory; --dask reads a URL, and writes a folder"),
        ("none", "none: No such file or directory"),
    ):
        done = outcome([FASTSVM, "predict", name, directory / "m", "out"], cwd=tmp_path)
        assert (done.returncode, done.stderr) == (1, f"Error: {message}\n")
    assert "--dask" not in errors(directory, "predict", "rows", "ro*") + errors(directory, "bound", "ro*")


def test_usage_that_other_programs_have(directory):
    printed = errors(directory, "predict", "-b", "rows", "m", "out", code=2)
    assert printed.endswith(": 'rows' found, expected 0 or 1 in front of the file: -b 1 rows\n")
    assert errors(directory, "predict", "-b", "2", "rows", "m", "out", code=2).endswith(
        ": '2' found, expected 0 or 1.\n"
    )
    for words in ("help", "help predict"):
        printed = errors(directory, *words.split(), code=2)
        assert printed.endswith("No such command 'help'. Type fastsvm --help, or fastsvm COMMAND --help.\n")


@pytest.mark.full(few=1)
@pytest.mark.parametrize("command", ["approx", "order", "border", "reduce --vectors 5"])
def test_a_model_does_not_replace_rows(directory, command):
    for name in ("rows", "rows.gz", "commented"):
        before = (directory / name).read_bytes()
        assert errors(directory, *command.split(), "m", name) == (
            f"Error: {name}: rows of data found, which the model would replace; "
            "name another output file, or remove this one\n"
        )
        assert (directory / name).read_bytes() == before


def test_a_pipe_is_not_read_again(directory):
    text = (directory / "n.csv").read_bytes()
    assert (
        errors(directory, "predict", "-", "m", input=text)
        == f"Error: standard input:1: '1,0.25,-0.5,1e-3,0' found, expected a label; {ADD_DENSE}\n"
    )
    assert errors(directory, "predict", "-", "m", input=(directory / "wide.csv").read_bytes()).endswith(
        f"; {ADD_DENSE}\n"
    )
    rows = (directory / "rows").read_bytes()
    assert (
        errors(directory, "predict", "m", "-", "out", input=rows)
        == f"Error: standard input:1: {DATA_FILE}; the test file comes before the model: fastsvm predict - m out\n"
    )
    assert "the test file" not in errors(directory, "predict", "-", "rows", input=rows)


@pytest.mark.full(few=3)
@pytest.mark.parametrize(
    "text, words",
    [
        ("1 1:0.5\n2,3\n", "predict"),
        ("1 1:0.5 2\n", "predict"),
        ("x 1:2\n", "predict"),
        ("\n1,2\n", "predict"),
        ("1 0x1:5\n", "predict"),
        ("a b\nc d\n", "predict --dense"),
        ("1,2\n1,2,3\n", "predict --dense"),
        ("1,x\n1,2\n", "predict --dense"),
    ],
)
def test_what_is_not_plain_gets_no_other_advice(directory, text, words):
    (directory / "odd").write_text(text)
    printed = errors(directory, *words.split(), "odd", "m", "/dev/null")
    assert printed.count("\n") == 1 and printed.endswith(f"{SKIPPED}\n")
    assert not any(word in printed.removesuffix(f"{SKIPPED}\n") for word in (";", "add", "leave", "tail"))


def test_the_hint_is_for_the_command_line_alone(directory):
    """Exceptions of the library name only the error."""
    import fastsvm_cli
    from fastsvm_cli.errors import DataFormatError

    with pytest.raises(DataFormatError) as caught:
        list(fastsvm_cli.read_chunks(str(directory / "n.csv")))
    assert "--dense" not in str(caught.value)


@pytest.mark.parametrize("name", ["m", "rows"])
def test_text_as_programs_of_windows_write_it(directory, tmp_path, name):
    text = (directory / name).read_text()
    (tmp_path / "utf 8").write_text(text, encoding="utf-8-sig")
    (tmp_path / "utf-16").write_text(text, encoding="utf-16")
    files = ["rows", "m"]
    for marked, reported in (
        ("utf 8", "it begins with a byte order mark, which tail -c +4 '{}' leaves out\n"),
        ("utf-16", "it is UTF-16, which iconv -f UTF-16 -t ASCII {} turns into text that is read\n"),
    ):
        path = str(tmp_path / marked)
        printed = errors(directory, "predict", *(path if each == name else each for each in files))
        assert printed.startswith(f"Error: {path}:1: ") and printed.endswith(f"; {reported.format(path)}")
        command = reported.split(", which ")[1].format(path).split(" leaves")[0].split(" turns")[0]
        mended = subprocess.run(command, shell=True, capture_output=True, check=True).stdout
        assert mended == (directory / name).read_bytes()
