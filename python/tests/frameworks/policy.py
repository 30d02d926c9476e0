"""One policy for every framework: ``rm`` is blocked, ``deploy`` asks, everything else passes."""

from lictor import All, PolicyEngine, Verdict, guard


def engine() -> PolicyEngine:
    @guard("careful")
    def careful(action):
        command = action.text("command") or ""
        if command.startswith("rm"):
            return Verdict.block(reason="it deletes", fix="move it to the bin")
        if command.startswith("deploy"):
            return Verdict.ask(reason="deploy now?")
        if command.startswith("broken"):
            raise RuntimeError("a guard that fails")
        return Verdict.pass_()

    return PolicyEngine(All(careful), facts="none")
