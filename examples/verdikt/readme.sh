#!/bin/sh
# The samples of verdikt's README in plain shell: engine.evaluate before, engine.post_action after, by `lictor rpc`.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/calls" "$dir/answers"
lictor rpc <"$dir/calls" >"$dir/answers" &
exec 3>"$dir/calls" 4<"$dir/answers"

call() { # method, params
  printf '{"jsonrpc": "2.0", "id": 1, "method": "%s", "params": %s}\n' "$1" "$2" >&3
  read -r answer <&4
}
field() { # a plain field of the answer
  printf '%s' "$answer" | sed -n "s/.*\"$1\":\"\{0,1\}\([a-z0-9_]*\).*/\1/p"
}
evaluate() { # action
  call evaluate "{\"action\": $1}"
  decision=$(field decision)
}

# A block stops the action, and says what to do instead.
evaluate '{"kind": "bash", "payload": {"command": "rm -rf /"}, "session_id": "s1"}'
echo "rm -rf /: $decision"
case $answer in *'Command matches blocked pattern: rm\\s+-rf\\s+/'*) echo "it matches the pattern" ;; esac
evaluate '{"kind": "write", "payload": {"path": "src/auth/handler.py", "content": ""}, "session_id": "s1"}'
echo "src/auth/handler.py: $decision"

# State accumulates across evaluations; what was done is told afterwards.
ls='{"kind": "bash", "payload": {"command": "ls"}, "session_id": "s2"}'
evaluate "$ls"
echo "ls: $decision"
call post "{\"action\": $ls, \"outcome\": {\"success\": true}}"
echo "afterwards: $(field standing)"
call session '{"session_id": "s2"}'
echo "actions: $(field action_count)"

# The tree: a deploy goes by its checklist, or around it with a warning.
evaluate '{"kind": "submit_task", "task_type": "deploy", "payload": {"ticket": "OPS-1"}, "session_id": "s2"}'
echo "deploy with a ticket: $decision"
evaluate '{"kind": "submit_task", "task_type": "deploy", "session_id": "s2"}'
echo "deploy without: $decision"
exec 3>&-
wait
