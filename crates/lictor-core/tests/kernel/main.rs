//! The decision kernel against its tables and laws: the fast evaluator, the reference, and injected faults that
//! the laws must detect.

#[cfg(test)]
mod approvals;
#[cfg(test)]
mod construction;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod policies;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod trees;
