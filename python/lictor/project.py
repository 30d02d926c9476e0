"""A governed project: one policy and one store for coding agents' hooks and for programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lictor._governing import Governing
from lictor._lictor import RawProject
from lictor._forks import Reopening
from lictor._given import path as given_path, told, word
from lictor.actions import Action, not_an_action
from lictor.approvals import Approvals
from lictor.context import Notes
from lictor.engine import PostResult, Question
from lictor.errors import ApprovalError, Blocked, NeedsApproval, PolicyError, ProjectError
from lictor.outcomes import Answer, Outcome, StopResult
from lictor.stores import SessionStore
from lictor.tracers import TraceEntry
from lictor.verdicts import GivenVerdict


class ProjectEvaluation:
    """The answer for one action, as ``lictor eval --json`` has it."""

    def __init__(self, fields: Mapping[str, Any], action: Action) -> None:
        self._fields = fields
        self.action = action

    @property
    def passed(self) -> bool:
        return self.decision in ("pass", "warn")

    @property
    def decision(self) -> str:
        return str(self._fields["decision"])

    @property
    def reason(self) -> str:
        return str(self._fields["reason"])

    @property
    def fix(self) -> str:
        return str(self._fields["fix"])

    @property
    def reason_for_agent(self) -> str:
        """The reason without what only an operator should read."""
        return str(self._fields.get("for_agent", self._fields)["reason"])

    @property
    def fix_for_agent(self) -> str:
        return str(self._fields.get("for_agent", self._fields)["fix"])

    @property
    def risk_score(self) -> float:
        return float(self._fields["risk"])

    @property
    def id(self) -> int | None:
        value: int | None = self._fields.get("id")
        return value

    @property
    def verdicts(self) -> list[GivenVerdict]:
        return [GivenVerdict.of(given) for given in self._fields["verdicts"]]

    @property
    def annotations(self) -> dict[str, Any]:
        """What guards noted, by ``guard.key``; the key alone finds it too."""
        return Notes(self._fields["annotations"])

    @property
    def faults(self) -> list[str]:
        """What guards could not answer, for the operator."""
        return [given.reason for given in self.verdicts if given.status == "error"]

    @property
    def violations(self) -> list[dict[str, Any]]:
        return list(self._fields["violations"])

    @property
    def trace(self) -> list[TraceEntry]:
        return [TraceEntry.of(entry) for entry in self._fields["trace"]]

    @property
    def questions(self) -> list[Question]:
        return [
            Question(asked["guard"], asked["message"], self.fix, asked.get("rule") or asked.get("policy"), None)
            for asked in self._fields.get("asked") or ()
        ]

    def to_dict(self) -> dict[str, Any]:
        return dict(self._fields)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"ProjectEvaluation({self.decision!r}, {self.reason!r})"


class _Questions:
    """A project's questions, as :class:`Approvals` takes them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def pending(self) -> list[dict[str, Any]]:
        waiting: list[dict[str, Any]] = self._project.call("approvals")
        return waiting

    def answer(self, id: str, by: str, minutes: int | None, reason: str | None) -> dict[str, Any]:
        return self._project._raw.answer(id, by, minutes, reason)


class Project(Governing[ProjectEvaluation]):
    """The policy files, the store, the ledger and the approvals of a project. May be shared between threads."""

    def __init__(self, open_raw: Callable[[], RawProject]) -> None:
        self._reopening = Reopening(open_raw)

    @property
    def _raw(self) -> RawProject:
        return self._reopening.get()

    @classmethod
    def open(cls, directory: str | os.PathLike[str] = ".") -> Project:
        """The project around a directory: the managed, the user's and the repository's policy."""
        path = os.path.abspath(given_path("directory", directory))
        return cls(lambda: RawProject.open(path))

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str] = "governance.yaml", *, session_store: SessionStore | None = None
    ) -> Project:
        """A policy file. The ``governance.yaml`` of a project has the project's store, which hooks write into too; another
        file is judged by itself, in memory or in the store that is given."""
        file = os.path.abspath(path)
        if os.path.basename(file) == "governance.yaml" and session_store is None:
            if not os.path.isfile(file):
                raise PolicyError(f"there is no policy at `{file}`", "run `lictor init`, or name another file")
            return cls.open(os.path.dirname(file))
        try:
            with open(file, encoding="utf-8") as opened:
                text = opened.read()
        except (OSError, UnicodeError) as error:
            raise PolicyError(f"the policy `{file}` cannot be read: {error}", "name a policy file") from error
        return cls.from_yaml(text, os.path.dirname(file), session_store=session_store)

    @classmethod
    def from_yaml(
        cls, text: str, directory: str | os.PathLike[str] = ".", *, session_store: SessionStore | None = None
    ) -> Project:
        """A policy without files, kept in memory or in the store that is given."""
        if session_store is not None and not hasattr(session_store, "path"):
            raise PolicyError(f"`{session_store!r}` is not a store", "give `SQLiteSessionStore(path)`")
        root, store = os.path.abspath(directory), None if session_store is None else session_store.path
        word("text", text)
        if store is not None:
            return cls(lambda: RawProject.from_yaml(text, root, store))
        raw = RawProject.from_yaml(text, root, None)
        return cls(lambda: raw)

    @told
    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Any method of ``lictor rpc``."""
        result, error = self._raw.call(method, dict(params or {}))
        if error is not None:
            kind, reason, fix = error
            raise ProjectError(reason, fix, kind)
        return result

    def evaluate(self, action: Action, *, mode: str = "enforce") -> ProjectEvaluation:
        """Judges one action and records the judgement. ``mode`` is ``enforce``, ``observe`` or ``dry``."""
        if not isinstance(action, Action):
            raise not_an_action(action)
        if action.parent_session_id is not None and action.session_id is not None and mode != "dry":
            self.delegate(action.parent_session_id, action.session_id, agent=action.agent)
        return ProjectEvaluation(self.call("evaluate", {"action": action.to_dict(), "mode": mode}), action)

    async def aevaluate(self, action: Action, *, mode: str = "enforce") -> ProjectEvaluation:
        import asyncio

        return await asyncio.to_thread(self.evaluate, action, mode=mode)

    @told
    def judged(self, action: Action) -> ProjectEvaluation | None:
        """What was decided about this very call before: the same session, ``tool_use_id`` and action."""
        if not isinstance(action, Action):
            raise not_an_action(action)
        known = self._raw.judged(action._raw)
        return None if known is None else ProjectEvaluation(known, action)

    def check(self, action: Action) -> ProjectEvaluation:
        """As :meth:`evaluate`; raises :class:`Blocked` when the action may not go ahead."""
        result = self.evaluate(action)
        if not result.passed:
            raise NeedsApproval(result) if result.decision == "ask" else Blocked(result)
        return result

    async def acheck(self, action: Action) -> ProjectEvaluation:
        import asyncio

        return await asyncio.to_thread(self.check, action)

    @told
    def resolve(
        self, action: Action, result: ProjectEvaluation, answers: Sequence[bool | Answer] | bool
    ) -> ProjectEvaluation:
        """A person's answers to what was asked, in order; one boolean counts for all."""
        if action != getattr(result, "action", None):
            raise ApprovalError("the question was about another action", "give the action that was evaluated")
        given = [answers] * len(result.questions) if isinstance(answers, bool) else answers
        plain = [
            {"approved": answer.approved, "reason": answer.reason} if isinstance(answer, Answer) else answer
            for answer in given
        ]
        return ProjectEvaluation(self.call("resolve", {"id": result.id, "answers": plain}), action)

    @told
    def post_action(self, action: Action, outcome: Outcome | bool | BaseException = True) -> PostResult:
        """Records what came of an action, and gives what the agent is told."""
        fields = {"action": action.to_dict(), "outcome": Outcome.of(outcome).to_dict()}
        posted = self.call("post", fields)
        return PostResult(posted["standing"], "\n\n".join(said["text"] for said in posted["feedback"]))

    def check_stop(
        self,
        session_id: str,
        *,
        agent: str = "",
        output: str | None = None,
        reason: str | None = None,
        subagent: bool = False,
    ) -> StopResult:
        """Whether the agent may stop now. The gate counts its rounds, and lets go when they are over."""
        fields = {
            "session_id": session_id,
            "agent": agent,
            "output": output,
            "reason": reason,
            "subagent": subagent,
        }
        checked = self.call("stop", {key: value for key, value in fields.items() if value is not None})
        return StopResult(checked["outcome"], tuple(checked["reasons"]), checked["round"])

    async def apost_action(self, action: Action, outcome: Outcome | bool | BaseException = True) -> PostResult:
        import asyncio

        return await asyncio.to_thread(self.post_action, action, outcome)

    async def acheck_stop(self, session_id: str, **known: Any) -> StopResult:
        import asyncio

        return await asyncio.to_thread(self.check_stop, session_id, **known)

    def prompted(self, session_id: str, text: str = "", agent: str = "", *, name: str | None = None) -> None:
        """A person has said something to the agent: the rounds of the stop gate begin anew, and rules `for` prompts of that
        name apply."""
        fields = {"session_id": session_id, "agent": agent, "text": text}
        self.call("prompt", fields if name is None else {**fields, "name": name})

    @told
    def delegate(
        self, parent: str, child: str, limit: Mapping[str, Any] | None = None, agent: str = ""
    ) -> dict[str, Any]:
        """Starts the session of a subagent: its scope is its parent's, narrowed by ``limit``."""
        fields = {"parent": parent, "child": child, "agent": agent, "limit": dict(limit or {})}
        state: dict[str, Any] = self.call("delegate", fields)["state"]
        return state

    def session(self, session_id: str, agent: str = "") -> dict[str, Any]:
        state: dict[str, Any] = self.call("session", {"session_id": session_id, "agent": agent})["state"]
        return state

    def reset(self, session_id: str, agent: str = "") -> None:
        """Forgets what tool policies know of a session. It is recorded."""
        self.call("reset", {"session_id": session_id, "agent": agent})

    def end(self, session_id: str, agent: str = "") -> None:
        self.call("end", {"session_id": session_id, "agent": agent})

    @property
    def approvals(self) -> Approvals:
        """Questions that wait for a person."""
        return Approvals(_Questions(self))

    def record(self, finding: Mapping[str, Any]) -> dict[str, Any]:
        """Records a reviewer's finding in the ledger."""
        recorded: dict[str, Any] = self.call("record", {"finding": dict(finding)})
        return recorded

    def gate(self, event: str = "pre-commit") -> dict[str, Any]:
        """What the commit gate would say."""
        said: dict[str, Any] = self.call("gate", {"event": event})
        return said
