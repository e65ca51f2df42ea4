"""Exports, dependencies and installation of libfastsvm."""

import re
import shutil

import pytest

import fastsvm_cli
from support.building import CLIENTS, run
from support.model_files import BORDERS, COMPILED, EXACT, REDUCED
from support.pages import PAGES, blocks
from support.paths import GOLDEN
from support.processes import outcome

pytestmark = pytest.mark.full

#: Removing a name or changing its meaning requires a new soname and version of all symbols.
EXPORTED = """
fastsvm_describe fastsvm_free fastsvm_instructions fastsvm_labels fastsvm_load fastsvm_load_memory fastsvm_predict
fastsvm_probabilities fastsvm_set_instructions fastsvm_values fastsvm_version fastsvm_with_exact
libsvm_version
svm_check_probability_model svm_destroy_param svm_free_and_destroy_model svm_free_model_content svm_get_labels
svm_get_nr_class svm_get_nr_sv svm_get_sv_indices svm_get_svm_type svm_get_svr_probability svm_load_model
svm_parse_model_from_buffer svm_predict svm_predict_probability svm_predict_values svm_set_print_string_function
""".split()


def test_the_interface_is_this_list(library):
    lines = run("nm", "-D", "--defined-only", library / "lib" / "libfastsvm.so").splitlines()
    names = [line.split()[-1] for line in lines if " A " not in line]
    assert sorted(names) == sorted(f"{name}@@FASTSVM_0" for name in EXPORTED)


def test_it_needs_libc_and_libm_alone(library):
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library / "lib" / "libfastsvm.so"))
    assert {name.split(".")[0] for name in needed} <= {"libc", "libm", "ld-linux-x86-64", "ld-linux-aarch64"}
    assert "[libfastsvm.so.0]" in run("readelf", "-d", library / "lib" / "libfastsvm.so")


@pytest.mark.parametrize("language", ["c -std=c99", "c -std=c11", "c++ -std=c++98", "c++ -std=c++17"])
def test_headers_compile(library, tmp_path, language):
    source = tmp_path / "source"
    source.write_text("#include <fastsvm.h>\n#include <svm.h>\nint main(void) { return 0; }\n")
    include = f"-I{library / 'include'}", f"-I{library / 'include/libsvm-on-fastsvm'}"
    strict = "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-long-long", "-fsyntax-only"
    run("cc", "-x", *language.split(), *strict, *include, source)


def labels_program(folder):
    """Path of the page's first program."""
    (block,) = (each for each in blocks(PAGES["fastsvm_cli/native/capi/README.md"], "c") if "labels.c" in each[0])
    (folder / "labels.c").write_text("\n".join(block) + "\n")
    return folder / "labels.c"


def test_a_static_library_needs_no_other(library, tmp_path):
    linked = library / "lib" / "libfastsvm.a", "-lm", "-lpthread", "-ldl", "-lstdc++"
    run("cc", f"-I{library / 'include'}", labels_program(tmp_path), *linked, "-o", tmp_path / "labels")
    assert run(tmp_path / "labels", GOLDEN / "c_svc.model").split() != []


def test_cmake_finds_it(library, tmp_path):
    """The version of the package, and no newer one."""
    cmake = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={library}"]
    labels_program(tmp_path)
    for name in ("CMakeLists.txt", "libsvm.c"):
        shutil.copy(CLIENTS / name, tmp_path)
    assert outcome([*cmake, "-DVERSION=77.0"]).returncode != 0
    run(*cmake, f"-DVERSION={fastsvm_cli.__version__}")
    run("cmake", "--build", tmp_path / "build")
    model = GOLDEN / "c_svc.model"
    assert run(tmp_path / "build" / "shared", model) == run(tmp_path / "build" / "static", model)
    run(tmp_path / "build" / "libsvm", model)


def test_pkg_config_finds_it(library, tmp_path):
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    environment = {"PKG_CONFIG_PATH": str(library / "lib" / "pkgconfig"), "PATH": "/usr/bin:/bin"}
    assert run("pkg-config", "--modversion", "fastsvm", env=environment).strip() == fastsvm_cli.__version__
    flags = run("pkg-config", "--cflags", "--libs", "fastsvm", env=environment).split()
    run("cc", labels_program(tmp_path), *flags, "-o", tmp_path / "labels")
    folder = run("pkg-config", "--variable=libsvm", "fastsvm", env=environment).strip()
    assert folder == str(library / "include" / "libsvm-on-fastsvm")


def test_a_call_with_one_row_allocates_nothing(client):
    """After the first calls, for models that answer all rows in the same way."""
    models = [GOLDEN / name for name in EXACT + COMPILED + BORDERS + REDUCED]
    lines = run(client("one_row"), GOLDEN / "data", *models).splitlines()
    assert len(lines) > 2 * len(models)
    assert [line for line in lines if float(line.split()[-1]) != 0] == []
