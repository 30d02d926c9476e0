//! The kind of program that wraps another one.

use crate::programs;

/// Programs that only run another one: they are not reported as separate commands.
pub(super) fn is_wrapper(program: &str) -> bool {
    programs::is_shell(program)
        || matches!(
            program,
            "sudo"
                | "doas"
                | "su"
                | "env"
                | "command"
                | "builtin"
                | "exec"
                | "nice"
                | "ionice"
                | "nohup"
                | "setsid"
                | "time"
                | "timeout"
                | "stdbuf"
                | "xargs"
                | "parallel"
                | "busybox"
                | "toybox"
                | "eval"
                | "unbuffer"
                | "chrt"
                | "taskset"
                | "caffeinate"
                | "arch"
        )
}

/// Programs with another purpose that can open a shell.
pub(super) fn opens_no_shells(outer: &str) -> bool {
    matches!(
        outer
            .split(' ')
            .next()
            .unwrap_or_default()
            .trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'),
        "awk"
            | "gawk"
            | "mawk"
            | "nawk"
            | "sed"
            | "find"
            | "fd"
            | "vim"
            | "vi"
            | "nvim"
            | "view"
            | "ex"
            | "ed"
            | "emacs"
            | "less"
            | "more"
            | "man"
            | "python"
            | "perl"
            | "ruby"
            | "lua"
            | "php"
            | "node"
            | "javascript"
            | "typescript"
            | "tar"
            | "zip"
            | "rsync"
            | "gdb"
            | "sqlite"
            | "mysql"
            | "psql"
            | "nmap"
            | "tcpdump"
            | "split"
            | "sort"
            | "m4"
    )
}
