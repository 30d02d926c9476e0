#!/bin/sh
# Git inside of `lictor run`: the real one, and a sentence after its own where the sandbox is why it failed.
value=
for word; do
    # `-C` and `-c` have a value.
    case $value$word in
    -C | -c) value=+ ;;
    +*) value= ;;
    config | remote | push | branch | switch | checkout | submodule | worktree | init | clone | sparse-checkout | maintenance) break ;;
    -*) ;;
    *) exec GIT "$@" ;;
    esac
done
exec 3>&1
code=$(
    {
        { LC_ALL=C.UTF-8 GIT "$@" 2>&1 >&3 3>&- 4>&-; echo $? >&4; } | {
            why=
            while IFS= read -r line || [ -n "$line" ]; do
                printf '%s\n' "$line" >&2
                case $line in
                *"could not write config file"* | *"could not lock config file"*) why=configuration ;;
                *"Read-only file system"*) why=${why:-place} ;;
                esac
            done
            case $why in
            configuration) echo "lictor run: git's configuration cannot be changed in here, because it can name programs to run; do without (push and fetch take an address and a branch), or ask a person to do it outside" >&2 ;;
            place) echo "lictor run: only the project, caches and /tmp can be written in here; use a place in the project, or ask a person to do it outside" >&2 ;;
            esac
        }
    } 4>&1
)
exit "${code:-1}"
