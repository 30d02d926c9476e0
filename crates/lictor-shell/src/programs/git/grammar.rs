//! How git's commands spell their options: the one place that knows it.

use super::super::options::Grammar;

/// In front of the command.
pub(crate) const GLOBAL: Grammar = Grammar::until_operand(
    "Cc",
    "git-dir= work-tree= namespace= exec-path? super-prefix= config-env= attr-source= list-cmds= no-pager paginate bare \
     help version html-path man-path info-path no-replace-objects literal-pathspecs no-optional-locks no-lazy-fetch",
);

/// `-s` takes a strategy in merge and nothing in commit.
const COMMIT: Grammar = Grammar::anywhere(
    "mCcFtXs",
    "message= reuse-message= reedit-message= fixup= squash= file= author= date= template= cleanup= pathspec-from-file= \
     trailer= gpg-sign? untracked-files? amend no-edit edit no-verify verify all signoff dry-run allow-empty \
     allow-empty-message interactive patch include only quiet verbose strategy= strategy-option= abort continue quit \
     skip no-commit ff no-ff ff-only squash-merge stat no-stat into-name= mainline= no-post-rewrite reset-author short",
)
.attached("uS");
/// `-s` signs off.
const PICK: Grammar = Grammar::anywhere(
    "mX",
    "mainline= strategy= strategy-option= cleanup= empty= gpg-sign? no-verify edit no-edit signoff no-commit ff allow-empty \
     allow-empty-message keep-redundant-commits abort continue quit skip reference rerere-autoupdate",
)
.attached("S");
const COMMIT_ONLY: Grammar = Grammar::anywhere(
    "mCcFt",
    "message= reuse-message= reedit-message= fixup= squash= file= author= date= template= cleanup= pathspec-from-file= \
     trailer= gpg-sign? untracked-files? amend no-edit edit no-verify verify all signoff no-signoff dry-run allow-empty \
     allow-empty-message interactive patch include only quiet verbose no-post-rewrite reset-author short branch porcelain \
     long null status no-status no-gpg-sign",
)
.attached("uS");
const CHECKOUT: Grammar = Grammar::anywhere(
    "bBU",
    "orphan= conflict= pathspec-from-file= unified= inter-hunk-context= track? recurse-submodules? force detach quiet ours \
     theirs merge patch guess no-guess overlay no-overlay ignore-skip-worktree-bits overwrite-ignore progress no-track \
     pathspec-file-nul ignore-other-worktrees",
);
const PUSH: Grammar = Grammar::anywhere(
    "o",
    "repo= receive-pack= exec= push-option= force-with-lease? no-force-with-lease signed? recurse-submodules= all branches \
     mirror tags delete dry-run force no-verify verify prune follow-tags set-upstream porcelain quiet verbose atomic thin \
     no-thin ipv4 ipv6 force-if-includes progress",
);
const SWITCH: Grammar = Grammar::anywhere(
    "cC",
    "create= force-create= orphan= conflict= discard-changes force detach guess no-guess quiet merge track? \
         recurse-submodules? progress ignore-other-worktrees",
);
const RESTORE: Grammar = Grammar::anywhere(
    "sU",
    "source= staged worktree patch pathspec-from-file= pathspec-file-nul ours theirs merge conflict= quiet progress \
         overlay no-overlay ignore-unmerged ignore-skip-worktree-bits recurse-submodules? unified= inter-hunk-context=",
);
const RESET: Grammar = Grammar::anywhere(
    "U",
    "soft mixed hard merge keep quiet patch recurse-submodules? no-recurse-submodules pathspec-from-file= intent-to-add \
         refresh no-refresh pathspec-file-nul",
);
const CLEAN: Grammar = Grammar::anywhere("e", "force dry-run interactive quiet exclude=");
const STASH: Grammar = Grammar::anywhere(
    "m",
    "message= pathspec-from-file= all include-untracked no-include-untracked keep-index staged patch quiet",
);
const READ_TREE: Grammar =
    Grammar::anywhere("", "reset prefix= index-output= exclude-per-directory= dry-run empty");
const CHECKOUT_INDEX: Grammar =
    Grammar::anywhere("", "prefix= stage= temp stdin all force index quiet no-create mkdir");
const REBASE: Grammar = Grammar::anywhere(
    "xsXC",
    "exec= onto= strategy= strategy-option= whitespace= no-verify verify interactive autostash abort continue skip quit \
         edit-todo root keep-base update-refs autosquash empty= rebase-merges? force-rebase",
);
const BRANCH: Grammar = Grammar::anywhere(
            "u",
            "set-upstream-to= contains= no-contains= merged? no-merged? sort= points-at= format= column? color? abbrev? \
             delete force move copy list remotes all verbose quiet unset-upstream edit-description show-current track? \
             ignore-case create-reflog recurse-submodules",
        )
        .attached("");
const SUBMODULE: Grammar =
    Grammar::anywhere("b", "force all recursive init remote branch= reference= depth= jobs= name= quiet");
const WORKTREE: Grammar = Grammar::anywhere("bB", "force reason= expire= detach checkout lock quiet");
const REMOTE: &str = "upload-pack= config= template= branch= origin= depth= reference= reference-if-able= separate-git-dir= jobs= filter= \
         shallow-since= shallow-exclude= recurse-submodules? refmap= server-option= negotiation-tip= strategy= \
         strategy-option= exec= sort= no-verify rebase? bundle-uri=";
const CLONE: Grammar = Grammar::anywhere("bcjou", REMOTE);
const FETCH: Grammar = Grammar::anywhere("joXs", REMOTE);
const SPARSE_CHECKOUT: Grammar =
    Grammar::anywhere("", "cone no-cone sparse-index no-sparse-index stdin skip-checks end-of-options");
const BISECT: Grammar =
    Grammar::anywhere("", "term-new= term-bad= term-old= term-good= no-checkout first-parent");

/// The options of a command. Of those that are not listed only the common form is known.
pub(super) fn of(command: &str) -> Grammar {
    match command {
        "checkout" => CHECKOUT,
        "switch" => SWITCH,
        "restore" => RESTORE,
        "reset" => RESET,
        "clean" => CLEAN,
        "stash" => STASH,
        "read-tree" => READ_TREE,
        "checkout-index" => CHECKOUT_INDEX,
        "sparse-checkout" => SPARSE_CHECKOUT,
        "bisect" => BISECT,
        "commit" => COMMIT_ONLY,
        "cherry-pick" | "revert" => PICK,
        "rebase" => REBASE,
        "branch" => BRANCH,
        "worktree" => WORKTREE,
        "submodule" | "submodule--helper" => SUBMODULE,
        "push" | "send-pack" => PUSH,
        "clone" => CLONE,
        "fetch" | "pull" | "ls-remote" | "remote" | "fetch-pack" => FETCH,
        _ => COMMIT,
    }
}
