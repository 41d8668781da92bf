"""What a step notes of its request beside the messages in it, so that the log alone can make it again (D-051).

System prompt, tools, response format and the limits of compiling are the same for step after step: they are stored
once, as the `basis`, and a step names it by hash.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from kesoku.agent.limits import TurnLimits
from kesoku.agent.think import Asked
from kesoku.agent.turn import Turn
from kesoku.history.compile import CompileLimits
from kesoku.messages.branch import Branch
from kesoku.messages.freeze import FrozenDict, freeze, thaw
from kesoku.messages.turn import CompiledRequest, ToolSpec, TurnRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """A JSON form under its hash."""

    digest: str
    body: dict[str, Any]


_MOST = 64
"""Bases that are remembered."""


class Bases:
    """The basis of each request; made once for all that share one."""

    def __init__(self, limits: TurnLimits) -> None:
        self._limits = limits
        self._made: dict[tuple[str, str, int], tuple[CompiledRequest, Basis]] = {}

    def of(self, asked: Asked) -> Basis:
        """The basis of a request."""
        request = asked.request
        key = (asked.provider, request.system, id(request.tools))
        known = self._made.get(key)
        if len(self._made) > _MOST:
            self._made.clear()
        if known is None or known[0].tools is not request.tools or known[0].response_format != request.response_format:
            known = self._made[key] = (request, self._basis(asked))
        return known[1]

    def _basis(self, asked: Asked) -> Basis:
        request = asked.request
        body = {
            "system": request.system,
            "tools": [_tool(each) for each in request.tools],
            "response_format": thaw(request.response_format),
            "provider": asked.provider,
            "tool_output": self._limits.tool_output,
            "tokens": self._limits.history_tokens,
            "records": self._limits.history_records,
        }
        text = json.dumps(body, sort_keys=True)
        return Basis(digest=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), body=body)


def notes(turn: Turn, asked: Asked, basis: Basis) -> dict[str, Any]:
    """What `Step.request` holds beside sources and digest; what is as ever is left out."""
    branch = turn.branch
    selected = {
        "spans": branch.spans,
        "forgotten": sorted(branch.forgotten),
        "pinned": branch.pinned,
        "summary": branch.summary,
        "cuts": branch.cuts,
    }
    return {
        "basis": basis.digest,
        **({"options": dict(asked.request.options)} if asked.request.options else {}),
        **({} if branch.is_whole else {"branch": selected}),
        **({"bound": asked.bound} if asked.bound else {}),
    }


def request_of(body: dict[str, Any], options: dict[str, Any]) -> TurnRequest:
    """What an operation asked of the model, from a stored basis."""
    return TurnRequest(
        system=body["system"],
        tools=tuple(ToolSpec(**{**each, "parameters": freeze(each["parameters"])}) for each in body["tools"]),
        response_format=freeze(body["response_format"]),
        options=freeze(options),
    )


def limits_of(body: dict[str, Any], branch: Branch) -> CompileLimits:
    """The limits with which a request was compiled."""
    return CompileLimits.of(branch, tool_output=body["tool_output"], tokens=body["tokens"])


def branch_of(session_id: str, form: Any) -> Branch:
    """The branch that a step noted; the whole session if it noted none."""
    if not form:
        return Branch(session_id=session_id)
    spans = tuple((first, last) for first, last in form["spans"])
    return Branch(
        session_id=session_id,
        spans=spans,
        forgotten=frozenset(form["forgotten"]),
        pinned=tuple(form["pinned"]),
        summary=form["summary"],
        cuts=FrozenDict(form["cuts"]),
    )


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "parameters": thaw(spec.parameters)}
