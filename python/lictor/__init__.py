"""Lictor: a governance runtime for AI agents.

Every action passes through a policy graph and comes back as pass, warn, ask or block. Two calls govern any program:
``engine.evaluate(action)`` before it acts, ``engine.post_action(action, outcome)`` afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lictor.actions import Action, ActionKind
from lictor.context import GovernanceContext, SessionState
from lictor.engine import EvaluationResult, PolicyEngine, PostResult, Question
from lictor.errors import (
    ActionError,
    ApprovalError,
    Blocked,
    ContextClosed,
    GraphError,
    LictorError,
    NeedsApproval,
    PolicyError,
    ProjectError,
    StoreError,
)
from lictor.guards import BaseGuard, Guard, guard
from lictor.layers import GovernanceLayer
from lictor.nodes import All, Any, Escalate, Not, Threshold, When, layered, pipeline
from lictor.outcomes import Answer, Outcome, StopResult
from lictor.stores import InMemorySessionStore, SessionStore, SQLiteSessionStore
from lictor.tracers import (
    CollectingTracer,
    LoggingTracer,
    StderrTracer,
    StdoutTracer,
    TraceEntry,
    Tracer,
)
from lictor.verdicts import Verdict

if TYPE_CHECKING:
    from lictor.project import Project, ProjectEvaluation

__all__ = [
    "Action",
    "ActionError",
    "ActionKind",
    "All",
    "Answer",
    "Any",
    "ApprovalError",
    "BaseGuard",
    "Blocked",
    "CollectingTracer",
    "ContextClosed",
    "Escalate",
    "EvaluationResult",
    "GovernanceContext",
    "GovernanceLayer",
    "GraphError",
    "Guard",
    "InMemorySessionStore",
    "LictorError",
    "LoggingTracer",
    "NeedsApproval",
    "Not",
    "Outcome",
    "PolicyEngine",
    "PolicyError",
    "PostResult",
    "Project",
    "ProjectError",
    "ProjectEvaluation",
    "Question",
    "SQLiteSessionStore",
    "SessionState",
    "SessionStore",
    "StderrTracer",
    "StdoutTracer",
    "StopResult",
    "StoreError",
    "Threshold",
    "TraceEntry",
    "Tracer",
    "Verdict",
    "When",
    "guard",
    "layered",
    "pipeline",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # Many programs build their graph in code and never open a project.
    if name in ("Project", "ProjectEvaluation"):
        from lictor import project

        return getattr(project, name)
    raise AttributeError(f"module `lictor` has no attribute `{name}`")
