"""Guards: the built-in ones, and how to write your own."""

from lictor.guards.built_in import (
    AuditGuard,
    BashSafetyGuard,
    BudgetGuard,
    FileBoundaryGuard,
    IntentGuard,
    IntentRule,
    KnownToolsGuard,
    LayerIsolationGuard,
    NetworkGuard,
    RateLimitGuard,
    RiskGuard,
    RulesGuard,
    SandboxGuard,
    SecretsGuard,
    SelfProtectionGuard,
)
from lictor.guards.own import BaseGuard, Guard, guard

__all__ = [
    "AuditGuard",
    "BaseGuard",
    "BashSafetyGuard",
    "BudgetGuard",
    "FileBoundaryGuard",
    "Guard",
    "IntentGuard",
    "IntentRule",
    "KnownToolsGuard",
    "LayerIsolationGuard",
    "NetworkGuard",
    "RateLimitGuard",
    "RiskGuard",
    "RulesGuard",
    "SandboxGuard",
    "SecretsGuard",
    "SelfProtectionGuard",
    "guard",
]
