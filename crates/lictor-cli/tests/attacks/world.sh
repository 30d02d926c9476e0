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
# The same members in other wrappings.
member() { printf '%-16s%-12s%-6s%-6s%-8s%-10s`\n' "$1" 0 0 0 100644 "$(wc -c <"$2" | tr -d ' ')" && cat "$2"; }
package() { printf '!<arch>\n' && member debian-binary "$1/debian-binary" && member "data.tar$3" "$2"; }
# The first version has two bytes less, so that what follows begins at an even place.
printf '2.0\n' >"$HOME/x/debian-binary"
package "$HOME/x" "$HOME/x/evil.tar" "" >"$HOME/x/evil.deb"
package "$HOME/x" "$HOME/x/evil.tgz" .gz >"$HOME/x/evilgz.deb"
package "$HOME/x" "$HOME/x/closed.tar.xz" .xz >"$HOME/x/closed.deb"
package "$HOME/x" "$HOME/x/fine.tgz" .gz >"$HOME/x/fine.deb"
base64 "$HOME/x/evil.tgz" >"$HOME/x/evil.b64"
base64 "$HOME/x/fine.tgz" >"$HOME/x/fine.b64"
od -An -v -tx1 "$HOME/x/evil.tgz" | tr -d ' ' >"$HOME/x/evil.hex"
od -An -v -tx1 "$HOME/x/fine.tgz" | tr -d ' ' >"$HOME/x/fine.hex"
tar -cf "$HOME/x/fine.tar" -C "$HOME/x" notes.md
cat "$HOME/x/fine.tar" "$HOME/x/evil.tar" >"$HOME/x/zeros.tar"
cat "$HOME/x/fine.tar" "$HOME/x/fine.tar" >"$HOME/x/twice.tar"
mkdir "$HOME/z"
ln -s .claude "$HOME/z/lnk"
tar -cf "$HOME/x/sym.tar" -C "$HOME/z" lnk
rm "$HOME/z/lnk"
mkdir -p "$HOME/z/lnk" "$HOME/z/.claude"
printf '{}\n' >"$HOME/z/lnk/settings.json"
printf '{}\n' >"$HOME/z/.claude/settings.json"
tar -rf "$HOME/x/sym.tar" -C "$HOME/z" lnk/settings.json
ln "$HOME/z/.claude/settings.json" "$HOME/z/other"
tar -cf "$HOME/x/hard.tar" -C "$HOME/z" .claude/settings.json other
# Only the second name is kept: a hard link to what is there already.
tar --delete -f "$HOME/x/hard.tar" .claude/settings.json 2>/dev/null || true
ln -s src "$HOME/z/current"
tar -cf "$HOME/x/links.tar" -C "$HOME/z" current
# One member; its content and checksum do not matter here.
zipped() {
  length=$(printf '\\%03o' ${#1})
  printf "PK\\003\\004\\012\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0$length\\0\\0\\0%s" "$1"
  printf "PK\\001\\002\\024\\003\\012\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0$length\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\244\\201\\0\\0\\0\\0%s" "$1"
  size=$(printf '\\%03o' $((46 + ${#1})))
  offset=$(printf '\\%03o' $((30 + ${#1})))
  printf "PK\\005\\006\\0\\0\\0\\0\\001\\0\\001\\0$size\\0\\0\\0$offset\\0\\0\\0\\0\\0"
}
zipped .claude/settings.json >"$HOME/x/evil.zip"
zipped notes.md >"$HOME/x/fine.zip"
(printf 'MZ and a program' && cat "$HOME/x/evil.zip") >"$HOME/x/sfx.exe"
printf 'SQLite format 3\000 and more' >"$HOME/x/a.db"
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
