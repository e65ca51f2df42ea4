"""Random changes of LIBSVM headers, read as svm-predict reads them."""

import random
import re

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from support.both_programs import alike, ours, theirs, theirs_337
from support.headers import BASES, EXCEPTIONS, ROWS_OF
from support.profiles import tries

WORDS = [b"0", b"1", b"2", b"-1", b"3", b"0.5", b"1.5", b"1e0", b"0x1p0", b"+2", b"abc", b"nan", b"1-2", b"coef", b"SV"]


def mutated(text, rng):
    head, vectors = text.split(b"SV\n")
    lines = head.splitlines()
    for _ in range(rng.choice((1, 1, 2, 3))):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        words = lines[at].split() or [b""]
        word = rng.randrange(len(words))
        match rng.randrange(11):
            case 0:
                lines[at], lines[other] = lines[other], lines[at]
            case 1:
                lines.insert(other, lines[at])
            case 2 if len(lines) > 1:
                del lines[at]
            case 3:
                lines.insert(at, rng.choice((b"", b" ", b"\t \t")))
            case 4:
                lines[at] = rng.choice((b" ", b"\t", b"  ")).join((b"", *words, b""))
            case 5:
                lines[at] = rng.choice((b"\n", b" \n\n ")).join(words)
            case 6 if at + 1 < len(lines):
                lines[at : at + 2] = [lines[at] + b" " + lines[at + 1]]
            case 7:
                lines[at] = b" ".join((*words[:word], rng.choice(WORDS), *words[word + 1 :]))
            case 8:
                lines[at] = b" ".join((*words[:word], rng.choice(WORDS), *words[word:]))
            case 9:
                lines[at] = b" ".join((*words[:word], *words[word + 1 :]))
            case 10:
                key = rng.choice(
                    (b"label 0 0", b"nr_sv 0 0", b"probA 1", b"probB 0", b"degree -1", b"gamma 2", b"rho 1")
                )
                lines.insert(at, key)
    text = b"\n".join((*lines, rng.choice((b"SV", b"SV ", b"\tSV", b"SV 1"))))
    return (text + b"\n" + vectors).replace(b"\n", rng.choice((b"\n", b"\n", b"\r\n")))


def test_a_header_changed_at_random_is_read_as_svm_predict_reads_it_or_is_an_exception(svm_predict, tmp_path):
    rng, jobs, read = random.Random("headers"), [], 0
    for _ in range(count := tries(400)):
        base = rng.choice(BASES)
        jobs.append((ROWS_OF[base], mutated(base, rng), rng.random() < 0.3))
    for (rows, model, probability), later in zip(jobs, theirs_337(tmp_path, jobs)):
        try:
            parse_model(model, "m")
        except ModelFormatError as error:
            exception = any(re.search(printed, str(error)) for printed, *_ in EXCEPTIONS.values())
            assert exception or (theirs(svm_predict, tmp_path, rows, model), later) == (None, None), (model, error)
            continue
        mine = ours(tmp_path, rows, model, probability)
        if later is not None:
            assert mine is not None and alike(mine[: len(later)], later), (model, mine, later)
            read += 1
        debian = theirs(svm_predict, tmp_path, rows, model, probability)
        assert debian is None or alike(mine, debian), (model, mine, debian)
    assert read > count / 5
