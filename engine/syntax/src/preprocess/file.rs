//! A file that is read, and its open conditionals.

/// What a file needs to know about itself.
pub(super) struct FileJob {
    pub(super) index: usize,
    pub(super) depth: u32,
    pub(super) groups: Vec<Group>,
}

/// One open `#if`.
pub(super) struct Group {
    /// Text of the current branch is read.
    pub(super) active: bool,
    /// Text around the `#if` is read.
    pub(super) outer: bool,
    /// Some branch was taken already.
    pub(super) taken: bool,
    /// `#else` was seen.
    pub(super) last: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl FileJob {
    /// Whether text is read at the place.
    pub(super) fn active(&self) -> bool {
        self.groups.last().is_none_or(|group| group.active)
    }
}
