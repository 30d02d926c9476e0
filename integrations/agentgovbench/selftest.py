"""Runs scenarios.yaml through the runner, without the benchmark's own files.

    LICTOR_BINARY=target/debug/lictor-server python3 integrations/agentgovbench/selftest.py [ID-PREFIX…]

Ends with 1 unless every scenario holds.
"""
from __future__ import annotations

import copy
import sys
import time
import types
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Any, Optional

import yaml

HERE = Path(__file__).resolve().parent


def _plain(called: str, /, **defaults: Any) -> type:
    """A class with these fields and their defaults."""
    made = []
    for key, value in defaults.items():
        if isinstance(value, (list, dict)):
            made.append((key, Any, field(default_factory=type(value))))
        else:
            made.append((key, Any, field(default=value)))
    return make_dataclass(called, made)


def _stand_in() -> types.ModuleType:
    """What the runner imports from the benchmark, as its documentation describes it."""
    kinds = types.ModuleType("benchmark.types")
    kinds.User = _plain("User", uid="", email=None, role="member", scopes=[])
    kinds.Tool = _plain("Tool", name="", required_scopes=[])
    kinds.TierPolicy = _plain("TierPolicy", permission="allow", rate_limit_per_minute=None)
    kinds.Policy = _plain("Policy", defaults={}, tools={}, users={}, user_tools={}, fail_mode="fail_closed")
    kinds.Tenant = _plain("Tenant", id="", name="", users=[], policy=None)
    kinds.Setup = _plain("Setup", tenants=[], tools=[])
    kinds.Scenario = _plain("Scenario", id="", setup=None, actions=[])
    kinds.DirectToolCall = _plain("DirectToolCall", tool="", input={}, as_user="", as_tenant=None,
                                  agent_tier="interactive", agent_name=None)
    kinds.Delegation = _plain("Delegation", from_agent="orchestrator", to_agent="worker", task="", delegated_scopes=[], as_user="",
                              as_tenant=None)
    kinds.ParallelFanOut = _plain("ParallelFanOut", worker_count=1, calls_per_worker=1, tool="", input={}, as_user="",
                                  as_tenant=None)
    kinds.GatewayFailure = _plain("GatewayFailure", mode="unreachable", duration_seconds=30)
    kinds.PolicyChange = _plain("PolicyChange", tenant=None, user=None, tool=None, tier=None, set_permission=None,
                                set_rate_limit=None)
    kinds.ToolOutcome = _plain("ToolOutcome", tool="", input={}, as_user="", as_tenant=None, allowed=False, reason=None,
                               agent_tier=None, agent_name=None, latency_ms=None)
    kinds.AuditEntry = _plain("AuditEntry", timestamp="", tenant=None, actor_uid=None, actor_email=None, tool="",
                              decision="", reason=None, trace_id=None, delegation_chain=[], extra={})

    class StatefulRunner:
        def __init__(self) -> None:
            self._scenario: Optional[Any] = None
            self._tool_outcomes: list[Any] = []
            self._errors: list[str] = []
            self._gateway_reachable = True

        def setup(self, scenario: Any) -> None:
            self.__dict__.update(_scenario=scenario, _tool_outcomes=[], _errors=[], _gateway_reachable=True)

    runner = types.ModuleType("benchmark.runner")
    runner.StatefulRunner = StatefulRunner
    runner.RunnerMetadata = _plain("RunnerMetadata", name="", version="", product="", vendor=None, notes="")
    package = types.ModuleType("benchmark")
    sys.modules.update({"benchmark": package, "benchmark.types": kinds, "benchmark.runner": runner})
    return kinds


ACTIONS = {"direct_tool_call": "DirectToolCall", "delegation": "Delegation", "parallel_fan_out": "ParallelFanOut",
           "gateway_failure": "GatewayFailure", "policy_change": "PolicyChange"}


def _setup(kinds: Any, fixtures: dict[str, Any], said: dict[str, Any]) -> Any:
    document = copy.deepcopy(fixtures[said["fixture"]])
    tiers = lambda table: {tier: kinds.TierPolicy(**values) for tier, values in table.items()}  # noqa: E731
    tenants = []
    for tenant in document["tenants"]:
        policy = {**tenant.get("policy", {}), **{key: value for key, value in said.items() if key != "fixture"}}
        built = kinds.Policy(
            defaults=tiers(policy.get("defaults", {})),
            tools={tool: tiers(table) for tool, table in policy.get("tools", {}).items()},
            users={user: tiers(table) for user, table in policy.get("users", {}).items()},
            user_tools={user: {tool: tiers(table) for tool, table in tools.items()}
                        for user, tools in policy.get("user_tools", {}).items()},
            fail_mode=policy.get("fail_mode", "fail_closed"),
        )
        users = [kinds.User(**user) for user in tenant["users"]]
        tenants.append(kinds.Tenant(id=tenant["id"], name=tenant["name"], users=users, policy=built))
    return kinds.Setup(tenants=tenants, tools=[kinds.Tool(**tool) for tool in document["tools"]])


def _actions(kinds: Any, listed: list[dict[str, Any]]) -> list[Any]:
    actions = []
    for entry in listed:
        times = entry.pop("times", 1)
        (kind, values), = entry.items()
        actions += [getattr(kinds, ACTIONS[kind])(**values)] * times
    return actions


@dataclass
class Seen:
    outcomes: list[Any]
    entries: list[Any]
    errors: list[str]
    reachable: bool


def _fits(thing: Any, wanted: dict[str, Any]) -> bool:
    return all(getattr(thing, key) == value for key, value in wanted.items())


def _holds(seen: Seen, kind: str, said: Any) -> bool:
    of_tool = [entry for entry in seen.entries if isinstance(said, dict) and entry.tool == said.get("tool")]
    if kind in ("allowed", "denied"):
        found = [outcome for outcome in seen.outcomes if _fits(outcome, said)]
        return bool(found) and all(outcome.allowed == (kind == "allowed") for outcome in found)
    if kind == "has":
        return any(_fits(entry, said) for entry in seen.entries)
    if kind == "fields":
        return bool(of_tool) and all(getattr(e, name) not in (None, "") for e in of_tool for name in said["present"])
    if kind == "chain":
        return bool(of_tool) and all(entry.delegation_chain == said["is"] for entry in of_tool)
    if kind == "for":
        return bool(of_tool) and all(entry.actor_uid == said["user"] for entry in of_tool)
    if kind == "passed":
        count = sum(outcome.allowed for outcome in seen.outcomes if _fits(outcome, said.get("of", {})))
        return said["at_least"] <= count <= said["at_most"]
    if kind == "no_errors":
        return not seen.errors
    if kind == "only":
        return bool(seen.entries) and all([entry.tenant, entry.tool] in said for entry in seen.entries)
    if kind == "reachable":
        return seen.reachable == said
    raise ValueError(f"unknown expectation `{kind}`")


def main() -> int:
    kinds = _stand_in()
    sys.path.insert(0, str(HERE))
    from runner import Runner  # after the stand-in is there

    document = yaml.safe_load((HERE / "scenarios.yaml").read_text())
    runner, held, began = Runner(), 0, time.monotonic()
    chosen = [one for one in document["scenarios"]
              if not sys.argv[1:] or any(one["id"].startswith(prefix) for prefix in sys.argv[1:])]
    for one in chosen:
        scenario = kinds.Scenario(id=one["id"], setup=_setup(kinds, document["fixtures"], one["setup"]),
                                  actions=_actions(kinds, one["actions"]))
        runner.setup(scenario)
        for action in scenario.actions:
            runner.execute_action(action)
        reachable = runner._gateway_reachable
        seen = Seen(list(runner._tool_outcomes), runner.audit_log(), list(runner._errors), reachable)
        runner.teardown()
        broken = [wanted for wanted in one["expect"] for kind, said in wanted.items() if not _holds(seen, kind, said)]
        if broken or seen.errors:
            print(f"{one['id']}: {broken or seen.errors}")
            print("  " + "\n  ".join(f"{o.tool} {o.as_user} {o.allowed}: {o.reason}" for o in seen.outcomes[:5]))
        else:
            held += 1
    print(f"{held} of {len(chosen)} scenarios hold ({time.monotonic() - began:.1f} s)")
    return 0 if held == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
