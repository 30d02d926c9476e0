#!/bin/sh
# A governed program in plain shell: one `lictor rpc` for the whole session, calls on descriptor 3, answers on 4.
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

task='{"kind": "submit_task", "task_type": "research", "session_id": "shell"}'
call evaluate "{\"action\": $task}"
echo "research: $(field decision)"
call post "{\"action\": $task, \"outcome\": {\"success\": true}}"
echo "afterwards: $(field standing)"
call stop '{"session_id": "shell"}'
echo "may it stop? $(field outcome)"
echo done >report.md
call stop '{"session_id": "shell"}'
echo "and now? $(field outcome)"
exec 3>&-
wait
