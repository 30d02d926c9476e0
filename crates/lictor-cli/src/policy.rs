//! The policy in force for a project, and the eyes it judges with.

use lictor_core::{Action, All, FactSource, Node};
use lictor_guards::{Rules, SelfProtection};
use lictor_observe::{RealObserver, facts as observe};

use crate::place::Project;

/// The root of the graph: self-protection outside everything, then the packs.
pub fn root() -> Node {
    All::new((SelfProtection, Rules::recommended())).into()
}

/// Works out what actions in that project would do.
pub fn facts(project: &Project) -> impl FactSource + use<> {
    let observer = RealObserver::default();
    let mut known = lictor_observe::Project::at(&project.root.to_string_lossy(), &observer);
    known.own.push(project.state_dir().to_string_lossy().into_owned());
    move |action: &Action| observe(action, &known, &observer)
}
