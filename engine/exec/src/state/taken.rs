//! What groups and action sets take of an action selector.

use p4cc_ir::Profile;

use crate::control::{ActionSet, Group, SizeSemantics};

/// What a group or set takes of its selector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Sum of the weights.
    pub weight: u64,
    /// What counts against the selector's size.
    pub size: u64,
}

impl Taken {
    /// Of members with these weights.
    fn of(profile: &Profile, semantics: SizeSemantics, weights: impl Iterator<Item = u32>) -> Self {
        let (mut members, mut weight) = (0, 0);
        for one in weights {
            members += 1;
            weight += u64::from(one);
        }
        let counts_members = match semantics {
            SizeSemantics::Declared => profile.member_weight_limit().is_some(),
            SizeSemantics::Weights => false,
            SizeSemantics::Members => true,
        };
        Self { weight, size: if counts_members { members } else { weight } }
    }

    /// Of a group.
    pub fn of_group(profile: &Profile, group: &Group) -> Self {
        Self::of(profile, SizeSemantics::Declared, group.members.iter().map(|member| member.weight))
    }

    /// Of a set.
    pub fn of_set(profile: &Profile, set: &ActionSet) -> Self {
        Self::of(profile, set.size, set.members.iter().map(|member| member.weight))
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self { weight: self.weight + other.weight, size: self.size + other.size }
    }

    /// What is left without another.
    pub fn minus(self, other: Self) -> Self {
        Self { weight: self.weight.saturating_sub(other.weight), size: self.size.saturating_sub(other.size) }
    }
}
