"""Lines that are no rows, and where they were put."""

#: line -> what is said of it
BAD = {
    "": "a blank line found, expected a label",
    "1 3:x": "'3:x' found, expected index:value",
    "1 3:1 2:1": "index 2 found after index 3, expected increasing indices",
    "1 3:nan": "'3:nan' found, expected a finite number",
    "foo": "'foo' found, expected a label",
    "1 2147483648:1": "'2147483648:1' found, expected an index of at most 2147483647",
}


def spoil(lines, rng, bad=tuple(BAD)):
    """The lines with bad ones among them: (text, [(line number, the bad line)])."""
    out, where = [], []
    for line in [*lines, None]:
        while rng.random() < 0.4:
            where.append((len(out) + 1, rng.choice(bad)))
            out.append(where[-1][1] + "\n")
        if line is not None:
            out.append(line)
    return "".join(out), where


PRECOMPUTED = (
    "svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nnr_sv 1 1\nSV\n"
    "1 0:1\n-1 0:3\n"
)
