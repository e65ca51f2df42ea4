"""predict --audit: a sample of the rows, by line number and seed, answered by the exact model too."""

import json
import re

import numpy as np
import pytest
from scipy.special import betaincinv

from fastsvm_cli.comparisons import upper_bound
from support.compiling import compile_all
from support.messages import cases, table
from support.open_rows import is_row
from support.outputs import timeless
from support.resuming import forked

SHARE, SEED = 0.3, 7


@pytest.fixture(scope="module")
def home(models):
    compile_all(models, "cascade --rows 1000000 --budget 10% --data two.rows two.model two.cascade")
    return models


def mixed(bits):
    """SplitMix64's output function."""
    bits = (bits ^ bits >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ bits >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return bits ^ bits >> np.uint64(31)


def is_sampled(lines, share=SHARE, seed=SEED):
    step = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        hashes = mixed(mixed(np.uint64(seed) + step) + step * np.uint64(lines))
    return (hashes >> np.uint64(11)) / 2**53 < share


def counted(lines, answers, exact):
    """(sampled, differing): of the labels on these lines."""
    pairs = [(a.split()[0], b.split()[0]) for line, a, b in zip(lines, answers, exact, strict=True) if is_sampled(line)]
    return len(pairs), sum(a != b for a, b in pairs)


@pytest.mark.full(few=4)
@pytest.mark.parametrize("model, end, options", cases("audited rows"))
def test_counts_are_those_of_the_labels_and_the_rows_stay(home, tmp_path, model, end, options):
    """Bad rows and comments are not sampled, and move no other row."""
    fast, exact, options = home / model, home / f"{model[:3]}.model", options.split()
    rows = exact.with_suffix(f".{end}")
    named = [] if model.endswith((".cascade", ".order")) else ["--exact", exact]
    lines = [number for number, line in enumerate(rows.read_text().splitlines(), 1) if is_row(line)]
    for_exact = [word for word in options if word not in ("--values", "--steps", "3")]
    forked(tmp_path, "predict", "-q", *options, rows, fast, "plain")
    forked(tmp_path, "predict", "-q", *for_exact, rows, exact, "exact")
    plain, labels = (
        [line for line in (tmp_path / name).read_text().splitlines() if not line.startswith(("nan", "label"))]
        for name in ("plain", "exact")
    )
    expected = counted(lines, plain, labels)
    for threads in (1, 2):
        words = ["--audit", SHARE, "--seed", SEED, "--threads", threads, *named, *options, rows, fast, "out"]
        done = json.loads(forked(tmp_path, "predict", "--json", *words).out)
        assert (done["audited"], done["audit_differing"]) == expected
        assert done["audit_upper"] == upper_bound(*expected[::-1], 0.95)
        assert (tmp_path / "out").read_bytes() == (tmp_path / "plain").read_bytes()
    assert 0 < expected[0] < len(lines)


def test_some_labels_differ_and_the_summary_says_how_many(home, fastsvm):
    words = ("predict", "--exact", home / "two.model", home / "two.rows", home / "two.border", "out", "--audit")
    found = re.search(
        r"Audit: (\d+) of 400 sampled labels differ from the exact model's; with 95 % confidence, at most ([\d.]+) %"
        r" of all\.\n",
        fastsvm(*words, "100%").err,
    )
    bound = pytest.approx(100 * upper_bound(int(found[1]), 400, 0.95), rel=0.01)
    assert 0 < int(found[1]) < 400 and float(found[2]) == bound
    # A pipe has the same sample.
    piped = ["-" if word == home / "two.rows" else word for word in words]
    done = fastsvm(*piped, "30%", "--json", input=(home / "two.rows").read_bytes())
    assert timeless(done.out) == timeless(fastsvm(*words, "30%", "--json").out) and '"audited": 1' in done.out


@pytest.mark.parametrize("quiet", [[], ["-q"], ["--json"]], ids=str)
def test_beyond_the_limit_the_exit_code_is_3_and_the_rows_are_written(home, fastsvm, tmp_path, quiet):
    words = ("predict", *quiet, "--audit", "1", "--exact", home / "two.model")
    files = (home / "two.rows", home / "two.border")
    fastsvm(*words, "--max-disagreement", "99%", *files, "expected")
    done = fastsvm(*words, "--max-disagreement", "0.1%", *files, "out", code=3)
    assert re.search(
        r"Error: \S+two\.border: up to [\d.]+ % of the labels may differ from the exact model's \(\d+ of 400 sampled"
        r" ones do; 95 % confidence\), more than 0\.1 % \(--max-disagreement\)\n$",
        done.err,
    )
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()
    assert ("audit_upper" in done.out) == (quiet == ["--json"])
    # Too few rows exceed a small limit without a differing one: nothing is known that keeps it.
    few = ["--audit", "5%", "--max-disagreement", "1%", home / "two.rows", home / "two.cascade", "out"]
    assert "more than 1 % (--max-disagreement)" in fastsvm("predict", *few, code=3).err


def test_reasons(home, fastsvm, tmp_path):
    ranges = "x\n0 1\n" + "".join(f"{feature} 0 2\n" for feature in range(1, 9))
    (home / "range").write_text(ranges)
    compile_all(home, "reduce --scale range --ratio 0.1 two.model two.folded")
    for options, model, code, words in table("messages.txt", "audit"):
        options = [home / word if word.endswith(".model") else word for word in options.split()]
        done = fastsvm("predict", *options, home / "two.rows", home / model, "out", code=int(code))
        assert words in done.err and not (tmp_path / "out").exists()


# ---- the bound


@pytest.mark.parametrize("share", [0.0005, 0.01])
def test_the_bound_covers_the_share_in_95_of_100_jobs(share):
    """400 jobs, whose differing rows are neighbours."""
    rows, jobs = 20_000, 400
    lines, differing = np.arange(1, rows + 1, dtype=np.uint64), round(share * rows)
    covered = 0
    for seed in range(jobs):
        sampled = np.flatnonzero(is_sampled(lines, 0.05, seed))
        start = seed * 37
        seen = int(((start <= sampled) & (sampled < start + differing)).sum())
        covered += upper_bound(seen, len(sampled), 0.95) >= share
    assert covered >= 0.95 * jobs


@pytest.mark.parametrize("rows", [1, 2, 3000, 10**6])
def test_the_bound_is_clopper_and_pearson_s(rows):
    """A quantile of the beta distribution."""
    for differing in {0, 1, 7, rows // 1000, rows // 3, rows - 1}:
        for confidence in (0.01, 0.5, 0.95, 0.999):
            expected = betaincinv(differing + 1, rows - differing, confidence) if differing < rows else 1
            assert upper_bound(differing, rows, confidence) == pytest.approx(expected, rel=1e-9 if rows < 1e7 else 1e-6)
    assert upper_bound(0, 0, 0.95) == 1
