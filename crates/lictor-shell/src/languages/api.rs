//! Functions of standard libraries that act on the world, by their full names.

/// What a function does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// Deletes a file or an empty directory.
    Delete,
    /// Deletes a tree.
    DeleteTree,
    /// Deletes, and a tree when the option `recursive` says so.
    DeleteByOption,
    /// Writes a file from the start.
    Write,
    /// Adds to a file.
    Append,
    /// Cuts a file off.
    Truncate,
    /// Opens a file; the mode says how.
    Open,
    /// Opens a file; constants of the system say how.
    OpenFlags,
    /// Makes objects of bytes, which may run anything.
    Restore,
    /// Reads a file.
    Read,
    /// Copies the first to the second.
    Copy,
    /// Copies a tree.
    CopyTree,
    /// Moves the first to the second.
    Move,
    /// Unpacks the first into the second.
    Unpack,
    /// Changes the mode.
    Mode,
    /// Changes the owner.
    Owner,
    /// Makes a directory.
    MakeDirectory,
    /// Makes the second a link.
    Link,
    /// Lists a directory.
    List,
    /// Runs the first as shell text.
    Shell,
    /// Runs a list of words, or text when asked for a shell (`subprocess.run`).
    Process,
    /// Runs the first with the list that follows (`spawn`, `os.execv`).
    Spawn,
    /// Runs its arguments as words (`os.execl`).
    Words,
    /// Talks to a host.
    Fetch,
    /// Fetches from a host into a file.
    Download,
    /// Changes a file in place, when the option `inplace` says so.
    Edit,
    /// Puts a tree into an archive.
    Pack,
    /// Sends to a host.
    Send,
    /// Runs the first as code of the same language.
    Evaluate,
    /// Runs the first as code of the same language when it is text; functions that it may be instead are judged where
    /// they stand.
    EvaluateText,
    /// Kills a process.
    Kill,
    /// Goes to a directory.
    ChangeDirectory,
}

/// Python: modules, classes and built-ins.
pub(super) fn python(name: &str) -> Option<Api> {
    Some(match name {
        "os.remove"
        | "os.unlink"
        | "os.rmdir"
        | "posix.unlink"
        | "posix.remove"
        | "posix.rmdir"
        | "nt.unlink"
        | "send2trash.send2trash" => Api::Delete,
        "os.removedirs"
        | "shutil.rmtree"
        | "distutils.dir_util.remove_tree"
        | "setuptools.distutils.dir_util.remove_tree" => Api::DeleteTree,
        "os.truncate" | "os.ftruncate" => Api::Truncate,
        "os.open" | "posix.open" => Api::OpenFlags,
        "pickle.loads" | "pickle.load" | "marshal.loads" | "dill.loads" | "cloudpickle.loads"
        | "joblib.load" => Api::Restore,
        "dotenv.dotenv_values" => Api::Read,
        "open" | "io.open" | "codecs.open" | "builtins.open" | "gzip.open" | "bz2.open" | "lzma.open"
        | "os.fdopen" | "aiofiles.open" | "pathlib.Path.open" => Api::Open,
        "shutil.copy" | "shutil.copy2" | "shutil.copyfile" | "shutil.copymode" | "shutil.copystat" => {
            Api::Copy
        }
        "distutils.file_util.copy_file" => Api::Copy,
        "shutil.unpack_archive" => Api::Unpack,
        "shutil.copytree" | "distutils.dir_util.copy_tree" => Api::CopyTree,
        "shutil.move" | "os.rename" | "os.replace" | "os.renames" => Api::Move,
        "os.chmod" | "os.lchmod" => Api::Mode,
        "os.chown" | "os.lchown" | "shutil.chown" => Api::Owner,
        "os.mkdir" | "os.makedirs" => Api::MakeDirectory,
        "os.symlink" | "os.link" => Api::Link,
        "os.listdir" | "os.scandir" | "os.walk" | "os.stat" | "os.path.exists" | "os.path.isfile"
        | "os.path.isdir" => Api::List,
        "os.system"
        | "os.popen"
        | "posix.system"
        | "nt.system"
        | "subprocess.getoutput"
        | "subprocess.getstatusoutput"
        | "commands.getoutput"
        | "commands.getstatusoutput"
        | "asyncio.create_subprocess_shell"
        | "popen2.popen2"
        | "os.popen2"
        | "os.popen3"
        | "IPython.get_ipython.system"
        | "plumbum.local"
        | "invoke.run"
        | "fabric.run"
        | "os.startfile" => Api::Shell,
        "subprocess.run"
        | "subprocess.call"
        | "subprocess.check_call"
        | "subprocess.check_output"
        | "subprocess.Popen"
        | "pty.spawn"
        | "pexpect.spawn"
        | "pexpect.run"
        | "sh.Command"
        | "asyncio.subprocess.run" => Api::Process,
        "os.execv" | "os.execve" | "os.execvp" | "os.execvpe" | "os.posix_spawn" | "os.posix_spawnp" => {
            Api::Spawn
        }
        "os.execl" | "os.execle" | "os.execlp" | "os.execlpe" | "asyncio.create_subprocess_exec" => {
            Api::Words
        }
        "os.spawnl" | "os.spawnlp" | "os.spawnv" | "os.spawnvp" => Api::Words,
        "requests.get"
        | "requests.head"
        | "requests.options"
        | "httpx.get"
        | "httpx.head"
        | "urllib.request.urlopen"
        | "urllib2.urlopen"
        | "urllib.urlopen"
        | "urllib.request.Request"
        | "socket.create_connection"
        | "socket.gethostbyname"
        | "socket.getaddrinfo"
        | "http.client.HTTPSConnection"
        | "http.client.HTTPConnection"
        | "ftplib.FTP"
        | "aiohttp.request"
        | "websocket.create_connection"
        | "urllib3.request"
        | "httpx.stream" => Api::Fetch,
        "requests.post" | "requests.put" | "requests.patch" | "requests.delete" | "requests.request"
        | "httpx.post" | "httpx.put" | "httpx.patch" | "httpx.delete" | "httpx.request" | "smtplib.SMTP"
        | "smtplib.SMTP_SSL" => Api::Send,
        "eval" | "exec" | "builtins.eval" | "builtins.exec" | "__builtins__.eval" | "__builtins__.exec"
        | "execfile" | "code.interact" | "runpy.run_path" | "__builtin__.eval" | "__builtin__.exec"
        | "compile" | "builtins.compile" => Api::Evaluate,
        "timeit.timeit" | "timeit.repeat" | "timeit.Timer" | "cProfile.run" | "cProfile.runctx"
        | "profile.run" | "profile.runctx" | "pdb.run" | "pdb.runeval" => Api::EvaluateText,
        "os.kill" | "os.killpg" | "psutil.Process.kill" | "psutil.Process" => Api::Kill,
        "urllib.request.urlretrieve" | "urllib.urlretrieve" | "wget.download" => Api::Download,
        "fileinput.input" | "fileinput.FileInput" => Api::Edit,
        "shutil.make_archive" => Api::Pack,
        "sqlite3.connect" => Api::Read,
        "os.chdir" => Api::ChangeDirectory,
        _ => return None,
    })
}

/// JavaScript: Node, Deno, Bun and a few packages.
pub(super) fn javascript(name: &str) -> Option<Api> {
    let name = name.strip_prefix("globalThis.").or_else(|| name.strip_prefix("global.")).unwrap_or(name);
    if let Some(function) = name
        .strip_prefix("fs.promises.")
        .or_else(|| name.strip_prefix("fs-extra."))
        .or_else(|| name.strip_prefix("graceful-fs."))
        .or_else(|| name.strip_prefix("fs."))
    {
        let function = function.strip_suffix("Sync").unwrap_or(function);
        return Some(match function {
            "unlink" | "rmdir" => Api::DeleteByOption,
            "rm" => Api::DeleteByOption,
            "remove" | "emptyDir" | "emptydir" => Api::DeleteTree,
            "writeFile" | "createWriteStream" | "outputFile" | "writeJson" | "outputJson" | "writeJSON" => {
                Api::Write
            }
            "appendFile" => Api::Append,
            "truncate" | "ftruncate" => Api::Truncate,
            "open" => Api::Open,
            "readFile" | "createReadStream" | "readJson" => Api::Read,
            "copyFile" => Api::Copy,
            "cp" | "copy" => Api::CopyTree,
            "rename" | "move" => Api::Move,
            "chmod" | "lchmod" | "fchmod" => Api::Mode,
            "chown" | "lchown" => Api::Owner,
            "mkdir" | "mkdirp" | "ensureDir" | "mkdtemp" => Api::MakeDirectory,
            "symlink" | "link" => Api::Link,
            "readdir" | "stat" | "lstat" | "exists" | "access" => Api::List,
            _ => return None,
        });
    }
    Some(match name {
        "rimraf" | "rimraf.sync" | "rimraf.rimraf" | "rimraf.rimrafSync" | "del" | "del.sync"
        | "del.deleteAsync" | "del.deleteSync" | "trash" => Api::DeleteTree,
        "shelljs.rm" => Api::DeleteTree,
        "Deno.remove" | "Deno.removeSync" => Api::DeleteByOption,
        "Deno.writeTextFile"
        | "Deno.writeTextFileSync"
        | "Deno.writeFile"
        | "Deno.writeFileSync"
        | "Bun.write" => Api::Write,
        "Deno.truncate" | "Deno.truncateSync" => Api::Truncate,
        "Deno.readTextFile" | "Deno.readTextFileSync" | "Deno.readFile" | "Bun.file" => Api::Read,
        "Deno.rename" | "Deno.renameSync" => Api::Move,
        "Deno.copyFile" | "Deno.copyFileSync" => Api::Copy,
        "Deno.symlink" | "Deno.symlinkSync" | "Deno.link" | "Deno.linkSync" => Api::Link,
        "Deno.chmod" | "Deno.chmodSync" => Api::Mode,
        "child_process.exec"
        | "child_process.execSync"
        | "shelljs.exec"
        | "execa.execaCommand"
        | "execa.command"
        | "execa.execaCommandSync"
        | "Bun.$"
        | "zx.$"
        | "$"
        | "$.system"
        | "child_process.promises.exec" => Api::Shell,
        "child_process.spawn"
        | "child_process.spawnSync"
        | "child_process.execFile"
        | "child_process.execFileSync"
        | "child_process.fork"
        | "execa"
        | "execa.execa"
        | "execa.sync"
        | "execa.execaSync"
        | "cross-spawn"
        | "cross-spawn.sync" => Api::Spawn,
        "Deno.Command" => Api::Spawn,
        "Deno.run" | "Bun.spawn" | "Bun.spawnSync" => Api::Process,
        "fetch"
        | "http.get"
        | "https.get"
        | "axios"
        | "axios.get"
        | "got"
        | "got.get"
        | "node-fetch"
        | "undici.fetch"
        | "WebSocket"
        | "net.connect"
        | "net.createConnection"
        | "tls.connect"
        | "superagent.get"
        | "ky"
        | "ky.get" => Api::Fetch,
        "http.request"
        | "https.request"
        | "axios.post"
        | "axios.put"
        | "axios.patch"
        | "axios.delete"
        | "axios.request"
        | "got.post"
        | "got.put"
        | "superagent.post"
        | "navigator.sendBeacon" => Api::Send,
        "doShellScript" | "app.doShellScript" => Api::Shell,
        "eval"
        | "Function"
        | "vm.runInThisContext"
        | "vm.runInNewContext"
        | "vm.runInContext"
        | "vm.Script" => Api::Evaluate,
        "process.kill" => Api::Kill,
        "process.chdir" | "Deno.chdir" => Api::ChangeDirectory,
        _ => return None,
    })
}
