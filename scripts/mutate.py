#!/usr/bin/env python3
"""Mutation testing: make seeded errors in the package, C++ and Python, and count those that the tests find.

    scripts/mutate.py --json before.json                           400 mutants, the fast tests
    scripts/mutate.py --again before.json --json after.json        the same mutants, after a change of the tests

All mutants are in one copy of the package (build/mutate): each is a condition on the environment variable
FASTSVM_MUTANT. Every folder has a share of them. Those that do not compile are dropped. One run of the tests notes
which mutants each test reaches; then, for each mutant, the tests that reach it run, quickest first, up to the first
that fails. A crash or a hang counts as a failure. As root, a mutant can replace a device such as /dev/null: run it in
a container, or --under a command that protects them. Needs `pip install tree-sitter tree-sitter-cpp`, in the
environment that has the test extras.
"""

import argparse
import ast
import copy
import itertools
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutate"
COPY = WORK / "checkout"
PYTHON = WORK / "venv" / "bin" / "python"
PACKAGE = Path("fastsvm_cli")
NATIVE = PACKAGE / "native"
#: Least number of mutants in a folder.
LEAST = 6
GIGABYTE = 1 << 30

HEADER = """#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>
namespace fastsvm_mutants {
inline const char* const number = std::getenv("FASTSVM_MUTANT");
inline const int chosen = number ? std::atoi(number) : 0;
inline unsigned char* map() {
    const char* path = std::getenv("FASTSVM_MUTANTS_REACHED");
    if (!path) return nullptr;
    const int file = open(path, O_RDWR);
    void* at = mmap(nullptr, COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return at == MAP_FAILED ? nullptr : static_cast<unsigned char*>(at);
}
inline unsigned char* const reached = map();
inline bool active(int n) {
    if (reached && !reached[n]) reached[n] = 1;
    return chosen == n;
}
}  // namespace fastsvm_mutants
#define MUTANT(n) fastsvm_mutants::active(n)
"""

# ---- mutants

OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "/": "*"}
OTHER |= {"&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "++": "--", "--": "++"}
OTHER |= {"std::min": "std::max", "std::max": "std::min"}
#: Their content is computed by the compiler, which does not know the mutant.
CONSTANT = {"template_argument_list", "static_assert_declaration", "enumerator", "array_declarator", "preproc_def"}
CONSTANT |= {"preproc_if", "attribute_declaration", "parameter_declaration", "template_parameter_list"}


def sites(node, found: list) -> None:
    """Append (start, end, what) of each possible mutation in the syntax tree below `node`."""
    text = node.text.decode()
    if (
        node.type in CONSTANT
        or ("//" in text and node.type.endswith("expression"))
        or re.match(r"(\w+ )*constexpr ", text.split("{")[0])
        or (node.type == "field_declaration" and text.endswith("= 0;") and ")" in text)  # a pure virtual function
    ):
        return
    if node.type == "case_statement":
        for child in node.children[2:]:  # not the value
            sites(child, found)
        return
    operator = node.child_by_field_name("operator")
    function = node.child_by_field_name("function")
    name = operator or function
    if node.type in ("binary_expression", "assignment_expression", "update_expression", "call_expression"):
        if name is not None and name.text.decode() in OTHER:
            found.append((node, f"{name.text.decode()} -> {OTHER[name.text.decode()]}"))
    elif node.type == "number_literal" and re.fullmatch(r"\d+u?", text):
        found.append((node, f"{text} -> {text} + 1"))
    elif node.type in ("expression_statement", "throw_statement", "break_statement", "continue_statement"):
        found.append((node, "deleted"))
    elif node.type == "condition_clause" and node.parent.type != "switch_statement":
        value = node.child_by_field_name("value")
        if value is not None and value.type != "declaration" and node.child_by_field_name("initializer") is None:
            found.append((value, "negated"))
    for child in node.children:
        sites(child, found)


def rewritten(text: bytes, node, chosen: dict) -> bytes:
    """The text of `node`, with the `chosen` mutations, {(start, end, type): [(number, what)]}, behind conditions."""
    fragments, at = [], node.start_byte
    names = []  # the fragments that an operator's or a function's mutation replaces
    for child in node.children:
        fragments += [text[at : child.start_byte], rewritten(text, child, chosen)]
        names.append((child, len(fragments) - 1))
        at = child.end_byte
    fragments.append(text[at : node.end_byte])
    for number, what in chosen.get((node.start_byte, node.end_byte, node.type), ()):
        now = b"".join(fragments)
        test = b"MUTANT(%d)" % number
        if what == "deleted":
            fragments = [b"{ if (!%s) { %s } }" % (test, now)]
        elif what == "negated":
            fragments = [b"(%s != static_cast<bool>(%s))" % (test, now)]
        elif what.endswith(" + 1"):
            fragments = [b"(%s ? %s + 1 : %s)" % (test, now, now)]
        else:
            old, new = what.encode().split(b" -> ")
            place = next(at for child, at in names if child.text == old)
            other = b"".join([*fragments[:place], new, *fragments[place + 1 :]])
            fragments = [b"(%s ? (%s) : (%s))" % (test, other.replace(b"\n", b" "), now)]  # lines keep their numbers
    return b"".join(fragments)


# ---- mutants of Python

PAIRS = ["Lt LtE", "Gt GtE", "Eq NotEq", "Is IsNot", "In NotIn", "And Or", "Add Sub", "Mult Div"]
SWAPPED = {getattr(ast, a): getattr(ast, b) for pair in PAIRS for a, b in itertools.permutations(pair.split())}
PYTHON_HEADER = """import mmap
import os

_chosen = int(os.environ.get("FASTSVM_MUTANT", 0))
_map = None
if "FASTSVM_MUTANTS_REACHED" in os.environ:
    with open(os.environ["FASTSVM_MUTANTS_REACHED"], "r+b") as _file:
        _map = mmap.mmap(_file.fileno(), 0)


def active(number):
    if _map is not None:
        _map[number] = 1
    return _chosen == number
"""


def python_sites(tree: ast.Module) -> "list[tuple[ast.AST, str]]":
    """(node, mutation) inside functions; not in annotations, defaults and decorators, which are read once."""
    found: list = []

    def visit(node, inside):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for each in node.body:
                visit(each, True)
            return
        if inside and isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
            found.append((node, "compared otherwise"))
        elif inside and isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in SWAPPED:
            if not (isinstance(node, ast.BinOp) and isinstance(node.left, (ast.JoinedStr, ast.Constant))):
                found.append((node, f"another operator than {type(node.op).__name__}"))
        elif inside and isinstance(node, ast.Constant) and type(node.value) is int:
            found.append((node, f"{node.value} -> {node.value} + 1"))
        elif inside and isinstance(node, (ast.If, ast.While, ast.IfExp)):
            found.append((node.test, "negated"))
        elif inside and (
            isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        ):
            found.append((node, "deleted"))
        if isinstance(node, (ast.JoinedStr, ast.AnnAssign, ast.Match)):
            return  # f-strings: words
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(tree, False)
    return found


def python_place(node: ast.AST) -> tuple:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, type(node).__name__


class Rewriter(ast.NodeTransformer):
    """Replaces a chosen expression by `mutant if active else original`, and a chosen statement by one that runs unless
    its mutant is active. chosen: {(*place, mutation): number}, as python_place and python_sites name them."""

    def __init__(self, chosen: dict):
        self.chosen = chosen

    def visit(self, node):
        place = python_place(node) if hasattr(node, "lineno") else None
        node = self.generic_visit(node)
        for (*chosen, what), number in self.chosen.items():
            if tuple(chosen) != place:
                continue
            test = ast.Call(ast.Name("_mutant", ast.Load()), [ast.Constant(number)], [])
            if what == "deleted":
                node = ast.If(ast.UnaryOp(ast.Not(), test), [node], [])
                continue
            other = copy.copy(node)
            if what == "negated":
                other = ast.UnaryOp(ast.Not(), node)
            elif isinstance(node, ast.Constant):
                other = ast.Constant(node.value + 1)
            elif isinstance(node, ast.Compare):
                other.ops = [SWAPPED[type(node.ops[0])]()]
            elif isinstance(node, (ast.BinOp, ast.BoolOp)):
                other.op = SWAPPED[type(node.op)]()
            node = ast.IfExp(test, other, node)
        return node


class Sources:
    def __init__(self):
        import tree_sitter
        import tree_sitter_cpp

        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
        native = [path for path in (ROOT / NATIVE).rglob("*") if path.suffix in (".h", ".cpp")]
        files = sorted([*native, *(ROOT / PACKAGE).rglob("*.py")])
        self.texts = {str(path.relative_to(ROOT)): path.read_bytes() for path in files}
        self.trees = {
            name: ast.parse(text) if name.endswith(".py") else parser.parse(text).root_node
            for name, text in self.texts.items()
        }

    def mutants(self, count: int, seed: int) -> "list[dict]":
        """A sample: by folder as many as its share of all possible mutations, at least LEAST."""
        of_folder = defaultdict(list)
        for name, tree in self.trees.items():
            if name.rpartition(".")[0].endswith("_test"):
                continue
            if name.endswith(".py"):
                found = python_sites(tree)
            else:
                found = []
                sites(tree, found)
            of_folder[folder_of(name)] += [(name, node, what) for node, what in found]
        possible = sum(map(len, of_folder.values()))
        print(f"{possible:,} possible mutations", flush=True)
        chosen = []
        for folder, some in sorted(of_folder.items()):
            share = min(len(some), max(LEAST, round(count * len(some) / possible)))
            chosen += random.Random(f"{seed} {folder}").sample(some, share)
        return [{"number": number, **described(*each)} for number, each in enumerate(chosen, 1)]

    def write(self, mutants: "list[dict]", count: int) -> None:
        write(COPY / NATIVE / "mutants.h", HEADER.replace("COUNT", str(count + 1)).encode())
        write(COPY / PACKAGE / "_mutants.py", PYTHON_HEADER.encode())
        for name, text in self.texts.items():
            own = [each for each in mutants if each["file"] == name]
            if own and name.endswith(".py"):
                tree = Rewriter({(*each["place"], each["mutation"]): each["number"] for each in own}).visit(
                    copy.deepcopy(self.trees[name])
                )
                first = next(
                    at
                    for at, each in enumerate(tree.body)
                    if not (isinstance(each, ast.Expr) or getattr(each, "module", "") == "__future__")
                )
                tree.body.insert(first, ast.parse("from fastsvm_cli._mutants import active as _mutant").body[0])
                text = ast.unparse(ast.fix_missing_locations(tree)).encode()
            elif own:
                chosen = defaultdict(list)
                for each in own:
                    chosen[tuple(each["place"])].append((each["number"], each["mutation"]))
                text = b'#include "mutants.h"\n#line 1\n' + rewritten(text, self.trees[name], chosen)
            write(COPY / name, text)


def folder_of(name: str) -> str:
    """Folder of the package that a report counts by."""
    parts = Path(name).parts[1:-1]
    return "/".join(parts[:2]) or "."


def described(name: str, node, what: str) -> dict:
    if isinstance(node, ast.AST):
        place = python_place(node)
        first, last, code = node.lineno, node.end_lineno, ast.unparse(node)
    else:
        place = (node.start_byte, node.end_byte, node.type)
        first, last, code = node.start_point[0] + 1, node.end_point[0] + 1, node.text.decode()
    code = " ".join(code.split())[:100]
    return {"file": name, "line": first, "last_line": last, "mutation": what, "code": code, "place": place}


def write(path: Path, text: bytes) -> None:
    """Write what has changed: the build makes only that again."""
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


# ---- the copy


def copy_checkout() -> None:
    """Copy the checkout's files, except the sources that Sources.write writes."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    names = {name for name in names.stdout.splitlines() if (ROOT / name).is_file()}
    for old in [path for path in (COPY / "tests").rglob("*.py") if str(path.relative_to(COPY)) not in names]:
        old.unlink()
    for name in names:
        if not (name.startswith(f"{PACKAGE}/") and name.endswith((".h", ".cpp", ".py"))):
            write(COPY / name, (ROOT / name).read_bytes())
            shutil.copymode(ROOT / name, COPY / name)
    if (ROOT.parent / "shared").exists() and not (WORK / "shared").exists():
        (WORK / "shared").symlink_to(ROOT.parent / "shared")
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", WORK / "venv"], check=True)
        packages = next((WORK / "venv" / "lib").glob("python*/site-packages"))
        ours = next(path for path in sys.path if path.endswith("site-packages"))
        (packages / "tests_extras.pth").write_text(ours + "\n")


def build(under: "list[str]") -> "str | None":
    """Install the copy; the compiler's messages if that fails."""
    words = ["-m", "pip", "--python", PYTHON, "install", "--no-deps", "--no-build-isolation", "--force-reinstall", "-v"]
    words += ["--disable-pip-version-check", f"-Cbuild-dir={WORK / 'core'}", "-Cbuild.tool-args=-k0", COPY]
    done = subprocess.run([*under, sys.executable, *map(str, words)], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else None


def spans(mutant: dict, file: str, line: int) -> bool:
    return mutant["file"] == file and mutant["line"] <= line <= mutant["last_line"]


def compiled(sources: Sources, mutants: "list[dict]", under: "list[str]") -> "list[dict]":
    """Install a core with all mutants that compile, and return these."""
    count = len(mutants)
    while True:
        sources.write(mutants, count)
        output = build(under)
        if output is None:
            return mutants
        wrong = re.findall(r"/(fastsvm_cli/native/\S+?):(\d+):\d+: error", output)
        compiling = [each for each in mutants if not any(spans(each, file, int(line)) for file, line in wrong)]
        if len(compiling) == len(mutants):  # the compiler names another line
            compiling = [each for each in mutants if not any(each["file"] == file for file, _ in wrong)]
        if len(compiling) == len(mutants):
            sys.exit(f"{output[-4000:]}\nThe copy does not compile.")
        print(f"{len(mutants) - len(compiling)} mutants do not compile", flush=True)
        mutants = compiling


# ---- runs of the tests


class Notes:
    """A plugin of pytest: notes each test that starts, and each test's seconds and mutants."""

    def __init__(self, log, reached):
        self.log, self.reached, self.seconds, self.failed = log, reached, {}, set()

    def pytest_runtest_logstart(self, nodeid, location):
        if self.reached:
            with open(self.reached, "r+b") as file:  # in place: it is mapped
                file.write(bytes(self.reached.stat().st_size))
        self.seconds[nodeid] = 0.0
        with open(self.log, "a") as log:
            log.write(json.dumps({"start": nodeid}) + "\n")

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] += report.duration
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid, location):
        if self.reached and nodeid not in self.failed:
            mutants = [n for n, byte in enumerate(self.reached.read_bytes()) if byte]
            with open(self.log, "a") as log:
                log.write(json.dumps({"test": nodeid, "seconds": self.seconds[nodeid], "mutants": mutants}) + "\n")


def inside(log: str, names: "list[str]") -> int:
    """Runs pytest in this process, in the copy."""
    import pytest

    reached = os.environ.get("FASTSVM_MUTANTS_REACHED")
    for limit, size in ((resource.RLIMIT_AS, 12 * GIGABYTE), (resource.RLIMIT_FSIZE, 2 * GIGABYTE)):
        resource.setrlimit(limit, (size, size))
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", *names]
    return pytest.main(words if reached else ["-x", *words], plugins=[Notes(log, reached and Path(reached))])


def run(log: Path, names: "list[str]", under, limit=None, **environment) -> "int | None":
    """The exit code of pytest, None after the time limit (seconds)."""
    log.unlink(missing_ok=True)
    environment = {**os.environ, "PATH": f"{PYTHON.parent}:{os.environ['PATH']}", **environment}
    words = [*under, PYTHON, Path(__file__).resolve(), "--inside", log, *names]
    with open(log.with_suffix(".out"), "w") as out:
        process = subprocess.Popen(
            list(map(str, words)), cwd=COPY, env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            subprocess.run(["kill", "-9", "--", f"-{process.pid}"], stderr=subprocess.DEVNULL)
            process.wait()


def lines_of(log: Path) -> "list[dict]":
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def record(mutants: "list[dict]", tests: "list[str]", under) -> "list[dict]":
    """[{test, seconds, mutants}] of the tests that pass without a mutant, quickest first."""
    reached = WORK / "reached"
    reached.write_bytes(bytes(max(each["number"] for each in mutants) + 1))
    run(WORK / "record.log", tests, under, FASTSVM_MUTANTS_REACHED=str(reached))
    noted = [each for each in lines_of(WORK / "record.log") if "test" in each]
    return sorted(noted, key=lambda each: each["seconds"])


def judge(mutant: dict, noted: "list[dict]", first: "str | None", arguments) -> None:
    """Set the mutant's `killed_by` (None: alive), and its `reached`, the number of tests."""
    tests, spent = [], 0.0
    reaching = [each for each in noted if mutant["number"] in each["mutants"]]
    for each in sorted(reaching, key=lambda each: each["test"] != first):
        spent += each["seconds"]
        if spent <= arguments.seconds or not tests:
            tests.append(each["test"])
    mutant["reached"], mutant["killed_by"] = len(reaching), None
    if not tests:
        return
    limit = 60 + 5 * min(spent, arguments.seconds)
    code = run(WORK / "run.log", tests, arguments.under, limit, FASTSVM_MUTANT=str(mutant["number"]))
    if code != 0:
        started = [each["start"] for each in lines_of(WORK / "run.log")]
        mutant["killed_by"] = started[-1] if started else "the start"
        mutant["how"] = "time" if code is None else "failure" if code == 1 else "crash"


# ---- report


def identity(mutant: dict) -> tuple:
    return mutant["file"], *mutant["place"], mutant["mutation"]


def report(mutants: "list[dict]") -> None:
    counts: dict[str, Counter] = defaultdict(Counter)
    for each in mutants:
        for folder in (folder_of(each["file"]), "all"):
            counts[folder]["mutants"] += 1
            counts[folder]["killed"] += each["killed_by"] is not None
            counts[folder]["not reached"] += not each["reached"]
    print("\n| folder | mutants | killed | alive | of these, no test reaches | share killed |")
    print("| --- | --: | --: | --: | --: | --: |")
    for folder in [*sorted(set(counts) - {"all"}), "all"]:
        n, killed, missed = (counts[folder][key] for key in ("mutants", "killed", "not reached"))
        print(f"| {folder} | {n} | {killed} | {n - killed} | {missed} | {100 * killed / n:.1f} % |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=400, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30.0, metavar="S", help="of tests for one mutant")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the list of mutants")
    parser.add_argument("--again", type=Path, metavar="FILE", help="only the mutants that were killed in this list")
    parser.add_argument("--under", type=shlex.split, default=[], metavar="WORDS", help="a command that runs all others")
    parser.add_argument("tests", nargs="*", default=["tests"], help="the tests (default: all fast tests)")
    arguments = parser.parse_args()
    copy_checkout()
    start = time.monotonic()
    sources = Sources()
    mutants = compiled(sources, sources.mutants(arguments.mutants, arguments.seed), arguments.under)
    print(f"{len(mutants)} mutants, built after {time.monotonic() - start:.0f} s", flush=True)
    noted = record(mutants, arguments.tests, arguments.under)
    print(f"{len(noted)} tests pass, noted after {time.monotonic() - start:.0f} s", flush=True)
    before = {}
    if arguments.again:
        before = {identity(each): each for each in json.loads(arguments.again.read_text())}
    for each in mutants:
        earlier = before.get(identity(each), {})
        if arguments.again and not earlier.get("killed_by"):
            each["killed_by"], each["reached"] = None, earlier.get("reached", 0)
        else:
            judge(each, noted, earlier.get("killed_by"), arguments)
        print(f"{each['number']:4} {each['file']}:{each['line']} {each['mutation']}: {each['killed_by']}", flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(mutants, indent=1) + "\n")
    report(mutants)
    print(f"{time.monotonic() - start:.0f} s, seed {arguments.seed}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        sys.exit(inside(sys.argv[2], sys.argv[3:]))
    sys.exit(main())
