"""Messages about options that a command does not have."""

import pytest


@pytest.mark.full(few=3)
@pytest.mark.parametrize(
    "words, printed",
    [
        ("predict --quite rows m", "No such option '--quite'. Did you mean '--quiet'?"),
        ("predict --tol 3 rows m", "No such option '--tol'. Did you mean '--tolerance'?"),
        ("predict --openrows=x rows m", "No such option '--openrows'. Did you mean '--open-rows'?"),
        ("predict --scales x rows m", "No such option '--scales'. Did you mean '--scale' or '--y-scale'?"),
        ("predict --degree 2 rows m", "No such option '--degree'. approx, bench and order have --degree."),
        ("predict --degre 2 rows m", "No such option '--degre'. approx, bench and order have --degree."),
        ("predict --rank 2 rows m", "No such option '--rank'. approx has --rank."),
        ("approx --tolerence 1 m", "No such option '--tolerence'. Did you mean '--tolerance'?"),
        ("bound -g 1 m", "No such option '-g'. svm-train has it, and the model file holds its value."),
        ("bound --dat x", "No such option '--dat'. cascade, reduce, order, border and export have --data."),
        ("bound --dashes x", "No such option '--dashes'."),
        ("reduce --local 1 m", "No such option '--local'. border has --local."),
        ("order --verbose m", "No such option '--verbose'."),
        ("order -z m", "No such option '-z'."),
        ("order -qz m", "No such option '-z'."),
        ("approx -help", "No such option '-help'. Did you mean '--help'?"),
        ("approx -degree 3 m", "No such option '-degree'. Did you mean '--degree'?"),
        ("approx -target=3 m", "No such option '-target'. reduce and border have --target."),
        ("Approx m", "No such command 'Approx'. Did you mean 'approx'?"),
        ("train -g 1 x", "No such command 'train'. LIBSVM's svm-train trains models."),
        ("--rank 3", "No such option '--rank'."),
    ],
)
def test_what_is_near_and_who_has_it(fastsvm, words, printed):
    done = fastsvm(*words.split(), code=2)
    assert done.err.splitlines()[-1] == f"Error: {printed}" and done.out == ""
