"""Models that LIBSVM trains."""

from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from support.paths import DATA


def train(path, rows, labels, options):
    svm_save_model(str(path), svm_train(labels, rows, f"-q {options}"))
    return path


def train_on(path, source, options, count=None):
    labels, rows = svm_read_problem(str(DATA / source))
    return train(path, rows[:count], labels[:count], options)


def train_jobs(folder, jobs, count):
    """{name: (model file, test file)} of jobs {name: (training file, test file, options)}."""
    for name, (source, _, options) in jobs.items():
        train_on(folder / f"{name}.model", source, options, count)
    return {name: (folder / f"{name}.model", DATA / test) for name, (_, test, _) in jobs.items()}
