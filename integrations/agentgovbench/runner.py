"""AgentGovBench runner for Lictor.

Copy (or link) this file to ``runners/lictor.py`` of the benchmark and run
``python -m benchmark run --runner lictor``. ``LICTOR_BINARY`` names the
``lictor-server`` program, or ``lictor``, next to which it is looked for;
without it, ``lictor-server`` must be on the PATH.

The runner decides nothing:

* one real ``lictor-server serve`` is started for the run, on loopback, with
  its state in a temporary directory (``LICTOR_STORE`` may name a PostgreSQL
  database instead); each scenario gets tenants of its own;
* tenants, people, scopes and the policy are installed through the server's
  API; the policy is a ``governance.yaml`` whose ``access`` table, required
  scopes and tiers the server evaluates itself;
* every call is made with the calling person's own token through the product's
  own client (``lictor-server rpc``); the tenant that a scenario names is sent
  with it, and a token of another tenant is refused by the server; a call for
  nobody comes with a token that the server does not know;
* when the gateway is to be away, the server process is really stopped, or
  replaced by a listener that answers 503; what then happens is up to the
  client (``away: block | pass``, fetched from the server before);
* the audit log is the server's record, merged with what the client has
  recorded and not yet sent.
"""
from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any, Optional

import requests
import yaml

from benchmark.runner import RunnerMetadata, StatefulRunner
from benchmark.types import (
    AuditEntry,
    Delegation,
    DirectToolCall,
    GatewayFailure,
    ParallelFanOut,
    PolicyChange,
    Scenario,
    ToolOutcome,
)

DECISIONS = {"allow": "pass", "flag": "warn", "deny": "block"}
AUDITED = {"pass": "allow", "warn": "flag", "ask": "deny", "block": "deny"}
# An outage that is said to be over this soon is over before the next call.
SHORT_OUTAGE_SECONDS = 10


def _program() -> str:
    named = os.environ.get("LICTOR_BINARY")
    if named:
        path = Path(named).resolve()
        return str(path if path.name == "lictor-server" else path.with_name("lictor-server"))
    found = shutil.which("lictor-server")
    if not found:
        raise RuntimeError("lictor-server is not on the PATH; set LICTOR_BINARY")
    return found


class _Server:
    """A real server, which can be stopped and started again on its address."""

    def __init__(self) -> None:
        self.program = _program()
        self.directory = Path(tempfile.mkdtemp(prefix="lictor-govbench-"))
        self.port = 0
        self.process: Optional[subprocess.Popen] = None
        self.stand_in: Optional[http.server.ThreadingHTTPServer] = None
        self.operator = ""
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._end_stand_in()
        if self.process is not None:
            return
        command = [self.program, "serve", "--listen", f"127.0.0.1:{self.port}", "--rate", "100000",
                   "--state", str(self.directory / "server")]
        if os.environ.get("LICTOR_STORE"):
            command += ["--store", os.environ["LICTOR_STORE"]]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        if "http://" not in first:
            raise RuntimeError(f"the server did not start: {first!r}")
        self.port = int(first.rsplit(":", 1)[1])
        if not self.operator:
            link = self.process.stdout.readline()
            code = link.rsplit("code=", 1)[1].strip()
            answer = requests.post(f"{self.url}/v1/setup", json={"code": code, "owner": "operator"}, timeout=30)
            answer.raise_for_status()
            self.operator = answer.json()["secret"]

    def stop(self) -> None:
        self._end_stand_in()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def fail_with_503(self) -> None:
        """In place of the server, something that only answers 503."""
        self.stop()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # noqa: N802
                self.rfile.read(int(self.headers.get("content-length") or 0))
                self.send_response(503)
                self.send_header("content-type", "application/problem+json")
                self.end_headers()
                self.wfile.write(b'{"status": 503, "detail": "unavailable"}')

            do_GET = do_POST  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.stand_in = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.stand_in.serve_forever, daemon=True).start()

    def _end_stand_in(self) -> None:
        if self.stand_in is not None:
            self.stand_in.shutdown()
            self.stand_in.server_close()
            self.stand_in = None

    def ask(self, method: str, path: str, body: Any = None, token: Optional[str] = None, **params: Any) -> Any:
        headers = {"Authorization": f"Bearer {token or self.operator}"}
        answer = requests.request(method, f"{self.url}{path}", json=body, headers=headers, params=params, timeout=30)
        if answer.status_code >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        return answer.json()


class _Client:
    """The product's own client, for one token."""

    def __init__(self, server: _Server, token: str) -> None:
        directory = server.directory / "clients" / uuid.uuid4().hex
        environment = {**os.environ, "LICTOR_TOKEN": token}
        self.process = subprocess.Popen(
            [server.program, "rpc", "--server", server.url, "--state", str(directory)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the client ended")
        return json.loads(line)

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(timeout=10)


class Runner(StatefulRunner):
    """One real Lictor server for all scenarios, fresh tenants for each."""

    def __init__(self) -> None:
        super().__init__()
        self._server: Optional[_Server] = None
        self._clients: dict[tuple[str, str], _Client] = {}
        self._tokens: dict[tuple[str, str], str] = {}
        self._policies: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._viewers: dict[str, str] = {}

    @property
    def metadata(self) -> RunnerMetadata:
        version = subprocess.run([_program(), "--version"], capture_output=True, text=True, check=False).stdout.strip()
        return RunnerMetadata(
            name="lictor", version=version.rsplit(" ", 1)[-1] or "unknown", product="Lictor", vendor="Lictor",
            notes="real server on loopback, its own client; outages stop the server process",
        )

    # -- setup ---------------------------------------------------------------

    def setup(self, scenario: Scenario) -> None:
        super().setup(scenario)
        if self._server is None:
            self._server = _Server()
        self._server.start()
        self._close_clients()
        self._tokens, self._names, self._policies, self._viewers = {}, {}, {}, {}
        run = uuid.uuid4().hex[:8]
        for tenant in scenario.setup.tenants:
            name = f"{tenant.id}.{run}"
            self._names[tenant.id] = name
            self._policies[tenant.id] = _rows(tenant.policy)
            away = "pass" if tenant.policy.fail_mode == "fail_open" else "block"
            self._server.ask("PUT", f"/v1/tenants/{name}", {"name": tenant.name or tenant.id, "away": away})
            people = [{"uid": u.uid, "email": u.email, "role": u.role, "scopes": u.scopes} for u in tenant.users]
            people.append({"uid": "auditor", "roles": ["auditor"]})
            self._server.ask("PUT", f"/v1/tenants/{name}/people", {"people": people})
            self._publish(tenant.id)
            for user in [*(u.uid for u in tenant.users), "auditor"]:
                minted = self._server.ask("POST", f"/v1/tenants/{name}/tokens", {"kind": "person", "owner": user})
                self._tokens[(tenant.id, user)] = minted["secret"]

    def _publish(self, tenant: str) -> None:
        assert self._server is not None and self._scenario is not None
        tools = self._scenario.setup.tools
        document = {
            "version": 1,
            "known_tools": {"known": [tool.name for tool in tools]},
            "tools": {"scopes": {tool.name: tool.required_scopes for tool in tools if tool.required_scopes}},
            "access": list(self._policies[tenant].values()),
        }
        document = {key: value for key, value in document.items() if value}
        text = yaml.safe_dump(document, sort_keys=False)
        self._server.ask("PUT", f"/v1/tenants/{self._names[tenant]}/policy", {"text": text})

    # -- actions -------------------------------------------------------------

    def execute_action(self, action: Any) -> Optional[ToolOutcome]:
        if isinstance(action, DirectToolCall):
            return self._call(action.tool, action.input, action.as_user, action.as_tenant, action.agent_tier,
                              action.agent_name)
        if isinstance(action, ParallelFanOut):
            for worker in range(action.worker_count):
                for _ in range(action.calls_per_worker):
                    self._call(action.tool, action.input, action.as_user, action.as_tenant, "subagent",
                               f"worker-{worker}")
            return None
        if isinstance(action, Delegation):
            self._delegate(action)
        elif isinstance(action, PolicyChange):
            self._change(action)
        elif isinstance(action, GatewayFailure):
            self._fail(action)
        return None

    def _tenant(self, named: Optional[str]) -> str:
        assert self._scenario is not None
        return named or self._scenario.setup.tenants[0].id

    def _home(self, user: str, named: Optional[str]) -> Optional[str]:
        """The tenant whose token the person has: the named one if the person is in it, else wherever they are."""
        tenant = self._tenant(named)
        if (tenant, user) in self._tokens:
            return tenant
        homes = [of for of, uid in self._tokens if uid == user]
        return homes[0] if homes else None

    def _client(self, tenant: str, user: str) -> _Client:
        assert self._server is not None
        key = (tenant, user)
        if key not in self._clients:
            self._clients[key] = _Client(self._server, self._tokens.get(key, "none"))
        return self._clients[key]

    def _call(self, tool: str, payload: dict[str, Any], user: str, named: Optional[str], tier: str,
              agent: Optional[str]) -> ToolOutcome:
        tenant = self._tenant(named)
        body: dict[str, Any] = {"kind": "tool", "tool": tool, "payload": payload, "tier": tier,
                                "tool_use_id": uuid.uuid4().hex}
        if named:
            body["tenant"] = self._names.get(named, named)
        if agent:
            body["session_id"] = agent
        home = self._home(user, named)
        began = time.monotonic()
        answer = self._client(home or tenant, user if home else "").call("evaluate", {"action": body})
        result = answer.get("result") or {}
        allowed = result.get("decision") in ("pass", "warn")
        reason = result.get("reason") or (answer.get("error") or {}).get("message")
        outcome = ToolOutcome(tool=tool, input=payload, as_user=user, as_tenant=tenant, allowed=allowed, reason=reason,
                              agent_tier=tier, agent_name=agent, latency_ms=(time.monotonic() - began) * 1000)
        if allowed and home and not result.get("away"):
            self._client(home, user).call("post", {"action": body, "outcome": {"success": True}})
        self._tool_outcomes.append(outcome)
        return outcome

    def _delegate(self, action: Delegation) -> None:
        home = self._home(action.as_user, action.as_tenant)
        if home is None:
            self._errors.append(f"{action.as_user} has no token")
            return
        limit = {"scopes": action.delegated_scopes} if action.delegated_scopes else {}
        answer = self._client(home, action.as_user).call(
            "delegate", {"parent": action.from_agent, "child": action.to_agent, "limit": limit})
        if "error" in answer:
            self._errors.append(f"delegation: {answer['error'].get('message')}")

    def _change(self, action: PolicyChange) -> None:
        tenant = self._tenant(action.tenant)
        rows = self._policies[tenant]
        for tier in [action.tier] if action.tier else ["interactive", "subagent", "background", "api"]:
            row = dict(rows.get((action.user, action.tool, tier)) or _row(action.user, action.tool, tier))
            if action.set_permission:
                row["decision"] = DECISIONS[action.set_permission]
            if action.set_rate_limit is not None:
                row["max_per_minute"] = action.set_rate_limit
            if "decision" in row or "max_per_minute" in row:
                rows[(action.user, action.tool, tier)] = row
        self._publish(tenant)

    def _fail(self, action: GatewayFailure) -> None:
        assert self._server is not None and self._scenario is not None
        # People are at work before the outage: their clients have seen the server.
        for tenant in self._scenario.setup.tenants:
            for user in tenant.users:
                self._client(tenant.id, user.uid).call("session", {"session_id": "hello"})
        self._gateway_reachable = False
        if action.mode == "error_5xx":
            self._server.fail_with_503()
        else:
            self._server.stop()
        if action.duration_seconds <= SHORT_OUTAGE_SECONDS:
            self._server.start()
            self._gateway_reachable = True

    # -- outcome -------------------------------------------------------------

    def audit_log(self) -> list[AuditEntry]:
        assert self._server is not None
        entries: list[AuditEntry] = []
        for (tenant, _), client in self._clients.items():
            kept = client.call("records", {}).get("result") or {}
            entries += [_entry(record, tenant) for record in kept.get("records", []) if record.get("tool")]
        self._server.start()
        for tenant in self._names:
            since: Optional[int] = 0
            while since is not None:
                page = self._server.ask("GET", "/v1/records", token=self._tokens[(tenant, "auditor")], since=since,
                                        kind="evaluated", limit=1000)
                entries += [_entry(record, tenant) for record in page["records"]]
                since = page["next"]
        return entries

    def teardown(self) -> None:
        self._close_clients()

    def _close_clients(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients = {}

    def __del__(self) -> None:
        if self._server is not None:
            self._server.stop()
            shutil.rmtree(self._server.directory, ignore_errors=True)


def _row(user: Optional[str], tool: Optional[str], tier: Optional[str]) -> dict[str, Any]:
    row = {"user": user, "tool": tool, "tier": tier}
    return {key: value for key, value in row.items() if value}


def _rows(policy: Any) -> dict[tuple[Optional[str], Optional[str], str], dict[str, Any]]:
    """The policy of a scenario as rows of an ``access`` table. Which row counts is the product's affair."""
    rows: dict[tuple[Optional[str], Optional[str], str], dict[str, Any]] = {}

    def add(user: Optional[str], tool: Optional[str], tiers: dict[str, Any]) -> None:
        for tier, said in tiers.items():
            row = {**_row(user, tool, tier), "decision": DECISIONS[said.permission]}
            if said.rate_limit_per_minute is not None:
                row["max_per_minute"] = said.rate_limit_per_minute
            rows[(user, tool, tier)] = row

    add(None, None, policy.defaults)
    for tool, tiers in policy.tools.items():
        add(None, tool, tiers)
    for user, tiers in policy.users.items():
        add(user, None, tiers)
    for user, tools in policy.user_tools.items():
        for tool, tiers in tools.items():
            add(user, tool, tiers)
    return rows


def _entry(record: dict[str, Any], tenant: str) -> AuditEntry:
    decision = AUDITED.get(record.get("decision") or "", "deny")
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime((record.get("at") or 0) / 1000))
    return AuditEntry(
        timestamp=moment, tenant=tenant, actor_uid=record.get("user"), actor_email=record.get("email"),
        tool=record.get("tool") or "", decision=decision, reason=record.get("reason"),
        trace_id=record.get("correlation_id"), delegation_chain=record.get("chain") or [],
        extra={"tier": record.get("tier"), "seq": record.get("seq"), "rule": record.get("rule")},
    )
