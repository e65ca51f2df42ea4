"""How workers are told of a job: once each, those too that come later."""

from distributed import WorkerPlugin

from fastsvm_cli.cluster import work
from fastsvm_cli.cluster.job import Job


class JobPlugin(WorkerPlugin):
    """Brings a job to every worker of a scheduler, until it is unregistered. A scattered future would be lost with the
    last worker that holds it."""

    def __init__(self, job: Job):
        self.job, self.name = job, f"fastsvm-{job.key}"

    def setup(self, worker: object) -> None:
        work.learn(self.job)

    def teardown(self, worker: object) -> None:
        work.forget(self.job.key)
