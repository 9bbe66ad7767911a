"""A server of 2025-11-25 with that revision's tasks: `job` becomes one where the call says so."""

from __future__ import annotations

from typing import Any, ClassVar

import legacy
import offers
from carriers import Exchange, Fault, Session, main
from jobs import ENDED, Job, Jobs

Json = dict[str, Any]
RELATED = "io.modelcontextprotocol/related-task"
TASKS = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


class LegacyTasks(legacy.Legacy):
    capabilities: ClassVar[Json] = {**offers.CAPABILITIES, "tasks": TASKS}

    def __init__(self) -> None:
        super().__init__()
        optional = offers.tool("job", execution={"taskSupport": "optional"})
        self.tools = [offers.tool("advance"), optional, *self.tools]
        self.jobs = Jobs()

    def answer(self, exchange: Exchange, method: str, params: Json) -> Json:
        match method:
            case "tasks/get":
                return state(self.jobs.get(params["taskId"]))
            case "tasks/list":
                return {"tasks": [state(job) for job in self.jobs.all()]}
            case "tasks/cancel":
                job = self.jobs.get(params["taskId"])
                if job.state["status"] in ENDED:
                    raise Fault(-32602, f"Cannot cancel task: already {job.state['status']}")
                self.move(exchange.session, job, "cancelled")
                return state(job)
            case "tasks/result":
                return self.outcome(exchange, self.jobs.get(params["taskId"]))
            case _:
                return super().answer(exchange, method, params)

    def call(self, exchange: Exchange, name: str, arguments: Json, params: Json) -> Json:
        match name:
            case "job" if "task" in params:
                job = self.jobs.new(arguments["tag"])
                job.state["ttl"] = params["task"].get("ttl")
                return {"task": state(job), "_meta": {"example.com/kept": 1}}
            case "job":
                return legacy.text(f"{arguments['tag']} is done")
            case "advance":
                job = self.jobs.tagged(arguments["tag"])
                if token := arguments.get("token"):
                    said = {"progressToken": token, "progress": 1, "_meta": related(job)}
                    exchange.session.announce("notifications/progress", said)
                self.move(exchange.session, job, arguments["to"])
                return legacy.text("advanced")
            case _:
                return super().call(exchange, name, arguments, params)

    def outcome(self, exchange: Exchange, job: Job) -> Json:
        """Blocks until there is one; what the job needs to know is asked meanwhile."""
        if job.state["status"] == "input_required":
            question = {**job.question, "params": {**job.question["params"], "_meta": related(job)}}
            (response,) = exchange.ask(question)
            job.result["structuredContent"] = response.get("result", {"error": response.get("error")})
            self.move(exchange.session, job, "completed")
        while not job.ended.is_set():
            exchange.wait(0.02)
        if job.state["status"] == "failed":
            raise Fault(job.error["code"], job.error["message"])
        return {**job.result, "_meta": related(job)}

    def move(self, session: Session, job: Job, status: str) -> None:
        job.move(status)
        session.announce("notifications/tasks/status", state(job))


def state(job: Job) -> Json:
    return {"ttl": None, **job.state, "pollInterval": 500}


def related(job: Job) -> Json:
    return {RELATED: {"taskId": job.state["taskId"]}}


if __name__ == "__main__":
    main(LegacyTasks())
