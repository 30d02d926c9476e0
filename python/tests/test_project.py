"""One policy and one store for hooks and programs."""

import asyncio

import pytest

from lictor import Action, Blocked, Outcome, PolicyError, Project, ProjectError

POLICY = """
version: 1
boundaries: {red_line_files: [secret.txt]}
tools:
  require_first: {bash("git push"): [bash("make test")]}
guards:
  careful: {expr: 'action.task_type != "deploy"', decision: ask, reason: "deploy now?", fix: ask a person}
policy: careful
completion: {files: [report.md]}
feedback:
  - {name: hint, every_n_calls: 1, say: "keep it small"}
"""


@pytest.fixture
def project(repository):
    (repository / "governance.yaml").write_text(POLICY)
    return Project.open(repository)


def test_a_whole_session(project, tmp_path):
    push = Action.bash("git push", session_id="s1")
    with pytest.raises(Blocked) as caught:
        project.check(push)
    assert "make test" in str(caught.value)
    test = Action.bash("make test", session_id="s1")
    assert project.evaluate(test)
    assert "keep it small" in project.post_action(test, Outcome(success=True, exit_code=0)).feedback_text
    assert project.evaluate(push).passed
    assert not project.evaluate(Action.read("secret.txt", session_id="s1"))

    deploy = Action("submit_task", session_id="s1", task_type="deploy")
    asked = project.evaluate(deploy)
    assert asked.decision == "ask" and "deploy now?" in asked.questions[0].reason
    assert project.resolve(deploy, asked, True).passed

    stopped = project.check_stop("s1")
    assert stopped.blocks and stopped.round == 1 and "report.md" in stopped.message
    (tmp_path / "home/project/report.md").write_text("done")
    assert project.check_stop("s1").outcome == "complete"
    project.end("s1")


def test_functions_and_coroutines_are_governed(project):
    ran = []

    @project.govern(lambda path: Action.read(path, session_id="s1"))
    def read(path):
        ran.append(path)

    @project.govern(lambda path: Action.read(path, session_id="s1"))
    async def aread(path):
        ran.append(path)
        raise OSError("gone")

    read("open.txt")
    with pytest.raises(Blocked):
        read("secret.txt")
    with pytest.raises(Blocked):
        asyncio.run(aread("secret.txt"))
    with pytest.raises(OSError):
        asyncio.run(aread("other.txt"))
    assert ran == ["open.txt", "other.txt"]
    state = project.session("s1")
    assert (state["success_count"], state["failure_count"]) == (1, 1)


def test_the_store_is_the_one_that_hooks_use(project, tmp_path):
    assert project.evaluate(Action.bash("ls", session_id="s1")).id is not None
    again = Project.open(tmp_path / "home/project")
    assert again.session("s1")["action_count"] == 1


def test_bad_calls_and_bad_policies_are_told(project):
    with pytest.raises(ProjectError) as caught:
        project.call("nonsense")
    assert caught.value.kind and "nonsense" in caught.value.reason
    with pytest.raises(PolicyError, match="bondaries"):
        Project.from_yaml("{version: 1, bondaries: {}}")
    assert not Project.from_yaml("{version: 1}").evaluate(Action.bash("rm -rf ~"))
