import socket
import subprocess
import sys

import pytest

from fastsvm_cli.cluster import scheduler
from support import dasking
from support.dasking import run_here
from support.paths import DATA
from support.processes import wait_until
from support.training import train_on


@pytest.fixture(scope="package", autouse=True)
def one_cluster():
    """Even an idle cluster uses processor time."""
    yield
    dasking.close()


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """{name: (model, rows, options)}: a model of every kind that answers in its own way."""
    home = tmp_path_factory.mktemp("models")
    out = {}

    def made(name, source, options, rows, count=120):
        train_on(home / name, source, options, count)
        text = (DATA / rows).read_bytes().splitlines(keepends=True)[:250]
        (home / f"{name}.rows").write_bytes(b"".join(text))
        out[name] = (home / name, home / f"{name}.rows", [])
        return home / name

    def also(name, base, *command, options=()):
        run_here(*command[:1], "-q", *command[1:], home / base, home / name)
        out[name] = (home / name, out[base][1], list(options))

    two = made("two", "rings.train", "-g 0.5 -b 1", "rings.test")
    made("three", "colors.train", "-g 0.05", "colors.test")
    value = made("value", "waves.train", "-s 3 -g 0.5", "waves.train")
    also("compiled", "two", "approx")
    also("certified", "two", "approx", "--certify", options=["--exact", two])
    also("certified value", "value", "approx", "--certify", options=["--exact", value, "--tolerance", "0.01"])
    also("ordered", "two", "order", options=["--evaluations"])
    return out


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="package")
def environment():
    """Environment of fsspec in all processes; the port of `store`."""
    with pytest.MonkeyPatch.context() as patch:
        port = free_port()
        patch.setenv("FSSPEC_S3_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        for name, value in (("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "y"), ("DEFAULT_REGION", "us-east-1")):
            patch.setenv(f"AWS_{name}", value)
        yield port


@pytest.fixture(scope="package")
def address(environment):
    """Address of a scheduler with two worker processes."""
    with scheduler.connect("local:2") as client:
        yield client.scheduler.address


@pytest.fixture(scope="package")
def store(environment):
    """S3 server with buckets for rows and for parts, as an fsspec file system."""
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(environment)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        import fsspec

        with socket.socket() as probe:
            assert wait_until(lambda: probe.connect_ex(("127.0.0.1", environment)) == 0)
        fs = fsspec.filesystem("s3", endpoint_url=f"http://127.0.0.1:{environment}")
        fs.mkdir("rows"), fs.mkdir("rows-out")
        yield fs
    finally:
        server.terminate()
        server.wait()
