"""A server of 2026-07-28 with the extension for tasks: `job` becomes one where the client knows of them."""

from __future__ import annotations

from typing import Any, ClassVar

import modern
import offers
from carriers import Exchange, main
from jobs import Job, Jobs

Json = dict[str, Any]
EXTENSION = "io.modelcontextprotocol/tasks"
REQUIRED = {"extensions": {EXTENSION: {}}}


class ModernTasks(modern.Modern):
    capabilities: ClassVar[Json] = {**offers.CAPABILITIES, "extensions": {EXTENSION: {}}}
    named: ClassVar[Json] = modern.Modern.named | {
        "tasks/get": "taskId",
        "tasks/update": "taskId",
        "tasks/cancel": "taskId",
    }

    def __init__(self) -> None:
        super().__init__()
        self.tools = [offers.tool("advance"), offers.tool("job"), *self.tools]
        self.jobs = Jobs()

    def result(self, exchange: Exchange, method: str, params: Json, meta: Json) -> Json:
        knows = EXTENSION in meta[modern.PREFIX + "clientCapabilities"].get("extensions", {})
        wants = "taskIds" in (params.get("notifications") or {})
        if not knows and (method in ("tasks/get", "tasks/update", "tasks/cancel") or wants):
            raise modern.missing(REQUIRED)
        match method:
            case "tasks/get":
                return self.detailed(self.jobs.get(params["taskId"]))
            case "tasks/update":
                job = self.jobs.get(params["taskId"])
                job.result["structuredContent"] = params["inputResponses"]
                self.move(job, "completed")
                return {}
            case "tasks/cancel":
                self.move(self.jobs.get(params["taskId"]), "cancelled")
                return {}
            case "tools/call" if params["name"] == "job":
                return self.job(knows, params, **params["arguments"])
            case "tools/call" if params["name"] == "advance":
                self.move(self.jobs.tagged(params["arguments"]["tag"]), params["arguments"]["to"])
                return modern.text("advanced")
            case _:
                return super().result(exchange, method, params, meta)

    def job(self, knows: bool, params: Json, tag: str, must: bool = False, ask: bool = False) -> Json:
        """A task for those who know of tasks; for the others a result, unless it `must` be one."""
        if must and not knows:
            raise modern.missing(REQUIRED)
        if not knows:
            return modern.text(f"{tag} is done")
        if ask and "inputResponses" not in params:
            return modern.needed({"first": offers.question("form", tag)}, "first")
        return {"resultType": "task", **self.state(self.jobs.new(tag))}

    def state(self, job: Job) -> Json:
        return {**job.state, "ttlMs": 60_000, "pollIntervalMs": 500}

    def detailed(self, job: Job) -> Json:
        match job.state["status"]:
            case "completed":
                return {**self.state(job), "result": job.result}
            case "failed":
                return {**self.state(job), "error": job.error}
            case "input_required":
                return {**self.state(job), "inputRequests": {"q-1": job.question}}
            case _:
                return self.state(job)

    def move(self, job: Job, status: str) -> None:
        job.move(status)
        self.announce("taskIds", "notifications/tasks", job.state["taskId"], self.detailed(job))

    def granted(self, wishes: Json) -> Json:
        known = [job.state["taskId"] for job in self.jobs.all()]
        if "taskIds" not in wishes:
            return wishes
        return {**wishes, "taskIds": [id for id in wishes["taskIds"] if id in known]}


if __name__ == "__main__":
    main(ModernTasks())
