//! Functions of these languages that act on the world.

use crate::languages::api::Api;

/// What a function of one of these languages does.
pub(super) fn function(language: &str, name: &str) -> Option<Api> {
    let bare = name.rsplit("::").next().unwrap_or(name);
    Some(match (language, bare) {
        ("perl", "unlink" | "rmdir") => Api::Delete,
        ("perl", "rmtree" | "remove_tree") => Api::DeleteTree,
        ("perl", "rename" | "move" | "mv") => Api::Move,
        ("perl", "copy" | "cp") => Api::Copy,
        ("perl", "truncate") => Api::Truncate,
        ("perl", "chmod") | ("php", "chmod") => Api::Mode,
        ("perl", "system" | "exec") => Api::Process,
        ("perl" | "php", "chdir") | ("lua", "lfs.chdir") => Api::ChangeDirectory,
        ("perl", "eval") => Api::Evaluate,
        ("perl", "kill") | ("php", "posix_kill") => Api::Kill,
        ("perl", "get" | "getstore" | "getprint") => Api::Fetch,
        ("ruby", _) => return ruby(name),
        ("php", "unlink" | "rmdir") => Api::Delete,
        ("php", "rename") => Api::Move,
        ("php", "copy") => Api::Copy,
        ("php", "file_put_contents") => Api::Write,
        ("php", "file_get_contents" | "readfile" | "file") => Api::Read,
        ("php", "system" | "exec" | "shell_exec" | "passthru" | "popen" | "proc_open") => Api::Shell,
        ("php", "pcntl_exec") => Api::Process,
        ("php", "eval" | "assert" | "create_function") => Api::Evaluate,
        ("php", "curl_init" | "fsockopen") => Api::Fetch,
        ("lua", "os.remove") => Api::Delete,
        ("lua", "os.rename") => Api::Move,
        ("lua", "os.execute" | "io.popen") => Api::Shell,
        ("lua", "loadstring" | "load" | "dofile") => Api::Evaluate,
        ("awk", "system") => Api::Shell,
        _ => return None,
    })
}

fn ruby(name: &str) -> Option<Api> {
    Some(match name {
        "FileUtils.rm_rf"
        | "FileUtils.rm_r"
        | "FileUtils.rmtree"
        | "FileUtils.remove_dir"
        | "FileUtils.remove_entry"
        | "FileUtils.remove_entry_secure"
        | "FileUtils.remove_entry_force"
        | "FileUtils.remove_dir_force"
        | "rm_rf"
        | "rm_r" => Api::DeleteTree,
        "FileUtils.rm"
        | "FileUtils.rm_f"
        | "FileUtils.remove"
        | "FileUtils.rmdir"
        | "FileUtils.remove_file"
        | "FileUtils.safe_unlink"
        | "File.delete"
        | "File.unlink"
        | "Dir.rmdir"
        | "Dir.delete"
        | "Dir.unlink" => Api::Delete,
        "FileUtils.mv" | "FileUtils.move" | "File.rename" => Api::Move,
        "FileUtils.cp" | "FileUtils.copy" | "FileUtils.copy_file" => Api::Copy,
        "FileUtils.cp_r" => Api::CopyTree,
        "FileUtils.chmod" | "FileUtils.chmod_R" | "File.chmod" => Api::Mode,
        "FileUtils.mkdir_p" | "FileUtils.mkdir" | "Dir.mkdir" => Api::MakeDirectory,
        "File.write" | "IO.write" => Api::Write,
        "File.open" | "File.new" => Api::Open,
        "File.read" | "IO.read" | "File.readlines" => Api::Read,
        "File.truncate" => Api::Truncate,
        "system" | "sh" | "exec" | "spawn" | "Process.spawn" | "Kernel.system" | "Kernel.exec"
        | "Kernel.spawn" | "IO.popen" | "Open3.capture2" | "Open3.capture2e" | "Open3.capture3"
        | "Open3.popen3" | "PTY.spawn" => Api::Process,
        "eval" | "instance_eval" | "class_eval" | "Kernel.eval" => Api::Evaluate,
        "Net::HTTP.get" | "URI.open" | "Net::HTTP.get_response" => Api::Fetch,
        "Net::HTTP.post" | "Net::HTTP.post_form" => Api::Send,
        "Process.kill" => Api::Kill,
        "Dir.chdir" | "FileUtils.cd" | "FileUtils.chdir" => Api::ChangeDirectory,
        _ => return None,
    })
}
