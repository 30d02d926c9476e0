# The world that attacks are tried in: run in the project, with HOME set, after `lictor init`.
set -e
mkdir -p "$HOME/x" "$HOME/y/.claude" "$HOME/docs" "$HOME/.ssh" "$HOME/.local/bin" "$HOME/.config/git" docs conf src
printf '{}\n' >"$HOME/x/settings.json"
printf '{}\n' >"$HOME/y/.claude/settings.json"
printf '#!/bin/sh\n' >"$HOME/x/pre-commit"
printf 'note\n' >"$HOME/x/notes.md"
printf 'key\n' >"$HOME/x/authorized_keys"
printf 'true\n' >"$HOME/x/.bashrc"
printf '#!/bin/sh\n' >"$HOME/x/lictor"
printf 'a\n' >"$HOME/docs/a"
printf 'A=1\n' >conf/.env
printf 'A=1\n' >.env
printf '# x\n' >README.md
printf 'fn main() {}\n' >src/main.rs
printf '.env\n' >list
printf 'README.md\nsrc/main.rs\n' >names
printf 'approve\n' >w
cp "$LICTOR" "$HOME/.local/bin/lictor"
cp "$LICTOR" "$HOME/x/lt"
ln "$HOME/.local/bin/lictor" "$HOME/x/lh"
ln -s "$HOME/.local/bin/lictor" "$HOME/x/ls2"
ln .claude/settings.json hard.json
ln conf/.env hardenv
tar -cf "$HOME/x/evil.tar" -C "$HOME/y" .claude
tar -czf "$HOME/x/evil.tgz" -C "$HOME/y" .claude
tar -czf "$HOME/x/deep.tgz" -C "$HOME" y/.claude
tar -czf "$HOME/x/fine.tgz" -C "$HOME/x" notes.md
(cd "$HOME/y" && find .claude | cpio -o -H newc >"$HOME/x/evil.cpio") 2>/dev/null || true
# Kinds of archives whose names are not read are known by how they begin.
printf '\3757zXZ\000 and more' >"$HOME/x/closed.tar.xz"
printf 'BZh91AY and more' >"$HOME/x/closed.tbz"
printf '7z\274\257\047\034 and more' >"$HOME/x/closed.7z"
cat >"$HOME/x/evil.diff" <<'D'
--- a/.claude/settings.json
+++ b/.claude/settings.json
@@ -1 +1 @@
-{}
+{"hooks":{}}
D
cat >"$HOME/x/new.diff" <<'D'
--- /dev/null
+++ b/governance.yml
@@ -0,0 +1 @@
+version: 1
D
cat >"$HOME/x/fine.diff" <<'D'
--- a/src/main.rs
+++ b/src/main.rs
@@ -1 +1 @@
-fn main() {}
+fn main() { }
D
# Recipes that were there before: what they do to governing files counts, the rest is the project's own.
mkdir -p recipes/sub recipes/pkg
cat >recipes/Makefile <<'D'
DIR := ../.claude
include more.mk
all: ; cc x.c
settings:
	echo {} > $(DIR)/settings.json
deep: settings
approve:
	lictor approve --all
clean:
	rm -rf build ../target
install:
	install -m 755 x /usr/local/bin/x
D
printf 'gone:\n\trm -rf ../.claude\n' >recipes/more.mk
cat >recipes/package.json <<'D'
{"name": "x", "scripts": {"prebuild": "rm -rf ../.claude", "build": "tsc", "test": "cp ~/x/settings.json ../.claude/",
 "lint": "eslint .", "clean": "rm -rf dist ../node_modules", "prepare": "husky"}}
D
printf 'gone:\n  rm -rf ../.claude\nok:\n  cargo build\n' >recipes/justfile
printf "version: '3'\ntasks:\n  gone:\n    cmds:\n      - rm -rf ../.claude\n  ok:\n    cmds:\n      - go build\n" >recipes/Taskfile.yml
printf 'import os\nos.system("rm -rf .claude")\n' >recipes/pkg/gone.py
printf 'import os\nprint(os.listdir(".claude"))\n' >recipes/pkg/fine.py
printf 'require("fs").rmSync(".claude", {recursive: true})\n' >recipes/pkg/gone.js
printf 'console.log(1)\n' >recipes/pkg/fine.js
git add -A >/dev/null 2>&1
git -c user.name=a -c user.email=a@b.c commit -qm first >/dev/null 2>&1 || true
