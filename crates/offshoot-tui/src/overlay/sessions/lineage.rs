//! Arranges rows as a forest of parent and child sessions, with the latest activity first. It uses row numbers, not
//! sessions.

use offshoot_session::clock::Millis;

/// A row of a list with its place in the forest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListedRow {
    pub(super) row: usize,
    pub(super) depth: usize,
    /// Whether no sibling follows.
    pub(super) is_last: bool,
    pub(super) parent: Option<usize>,
}

impl ListedRow {
    pub(super) fn alone(row: usize) -> Self {
        Self { row, depth: 0, is_last: true, parent: None }
    }
}

/// The data that the forest needs of a row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Member {
    pub(super) modified: Option<Millis>,
    pub(super) parent: Option<usize>,
}

/// The rows of `order` as a forest. Siblings are sorted by the latest activity in their families, then as in `order`.
/// Parents outside `order` are ignored. A cycle is cut at one of its rows. The time is linear, except for the sort.
pub(super) fn grow(members: &[Member], order: &[usize]) -> Vec<ListedRow> {
    let mut forest = Forest::new(members, order);
    forest.visit_all(order);
    forest.sort();
    forest.flatten()
}

struct Forest<'a> {
    members: &'a [Member],
    /// For each row, whether it takes part.
    is_in: Vec<bool>,
    children: Vec<Vec<usize>>,
    latest: Vec<Option<Millis>>,
    is_visited: Vec<bool>,
    roots: Vec<usize>,
    /// All rows, each after its parent.
    downwards: Vec<usize>,
}

impl<'a> Forest<'a> {
    fn new(members: &'a [Member], order: &[usize]) -> Self {
        let mut forest = Self {
            members,
            is_in: vec![false; members.len()],
            children: vec![Vec::new(); members.len()],
            latest: members.iter().map(|member| member.modified).collect(),
            is_visited: vec![false; members.len()],
            roots: Vec::new(),
            downwards: Vec::with_capacity(order.len()),
        };
        for row in order {
            if let Some(place) = forest.is_in.get_mut(*row) {
                *place = true;
            }
        }
        for row in order {
            match forest.parent(*row) {
                Some(parent) => {
                    if let Some(children) = forest.children.get_mut(parent) {
                        children.push(*row);
                    }
                }
                None => forest.roots.push(*row),
            }
        }
        forest
    }

    fn parent(&self, row: usize) -> Option<usize> {
        let parent = self.members.get(row)?.parent?;
        (parent != row && self.is_in.get(parent).copied().unwrap_or_default()).then_some(parent)
    }

    /// Visits all rows below the roots. The remaining rows are in cycles, which are cut.
    fn visit_all(&mut self, order: &[usize]) {
        for root in self.roots.clone() {
            self.visit(root);
        }
        for row in order {
            if self.is_visited.get(*row).copied().unwrap_or(true) {
                continue;
            }
            let root = self.in_circle(*row);
            if let Some(parent) = self.parent(root)
                && let Some(children) = self.children.get_mut(parent)
            {
                children.retain(|child| *child != root);
            }
            self.roots.push(root);
            self.visit(root);
        }
    }

    /// A row of the cycle above a row.
    fn in_circle(&self, row: usize) -> usize {
        let mut at = row;
        let mut seen = std::collections::HashSet::new();
        while seen.insert(at) {
            match self.parent(at) {
                Some(parent) => at = parent,
                None => return at,
            }
        }
        at
    }

    fn visit(&mut self, root: usize) {
        let mut todo = vec![root];
        while let Some(row) = todo.pop() {
            let Some(is_visited) = self.is_visited.get_mut(row) else { continue };
            if std::mem::replace(is_visited, true) {
                continue;
            }
            self.downwards.push(row);
            todo.extend(self.children.get(row).into_iter().flatten());
        }
    }

    fn sort(&mut self) {
        let is_root: std::collections::HashSet<usize> = self.roots.iter().copied().collect();
        for row in self.downwards.iter().rev() {
            let known = self.latest.get(*row).copied().flatten();
            if let Some(parent) = self.parent(*row).filter(|_| !is_root.contains(row))
                && let Some(latest) = self.latest.get_mut(parent)
            {
                *latest = (*latest).max(known);
            }
        }
        let latest = &self.latest;
        let busiest = |row: &usize| std::cmp::Reverse(latest.get(*row).copied().flatten());
        self.roots.sort_by_key(busiest);
        for children in &mut self.children {
            children.sort_by_key(busiest);
        }
    }

    fn flatten(&self) -> Vec<ListedRow> {
        let mut shown = Vec::with_capacity(self.downwards.len());
        let mut todo = Vec::new();
        let put = |todo: &mut Vec<ListedRow>, rows: &[usize], depth, parent| {
            let last = rows.len().saturating_sub(1);
            let places = rows.iter().enumerate().rev();
            todo.extend(places.map(|(at, row)| ListedRow { row: *row, depth, is_last: at == last, parent }));
        };
        put(&mut todo, &self.roots, 0, None);
        while let Some(next) = todo.pop() {
            let place = shown.len();
            shown.push(next);
            if let Some(children) = self.children.get(next.row) {
                put(&mut todo, children, next.depth + 1, Some(place));
            }
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(rows: &[(Millis, Option<usize>)]) -> Vec<Member> {
        rows.iter().map(|(modified, parent)| Member { modified: Some(*modified), parent: *parent }).collect()
    }

    fn rows(shown: &[ListedRow]) -> Vec<(usize, usize, bool)> {
        shown.iter().map(|shown| (shown.row, shown.depth, shown.is_last)).collect()
    }

    #[test]
    fn families_are_ordered_by_what_is_newest_anywhere_in_them() {
        // 0 is the oldest, but its grandchild 3 is the newest of all.
        let members = members(&[(1, None), (5, None), (2, Some(0)), (9, Some(2)), (3, Some(0))]);
        let shown = grow(&members, &[1, 4, 2, 0, 3]);
        assert_eq!(rows(&shown), [(0, 0, false), (2, 1, false), (3, 2, true), (4, 1, true), (1, 0, true)]);
        assert_eq!(shown.iter().map(|shown| shown.parent).collect::<Vec<_>>(), [None, Some(0), Some(1), Some(0), None]);
    }

    #[test]
    fn rows_that_are_left_out_are_no_parents() {
        let members = members(&[(1, None), (2, Some(0)), (3, Some(1))]);
        assert_eq!(rows(&grow(&members, &[0, 2])), [(2, 0, false), (0, 0, true)]);
    }

    #[test]
    fn circles_lose_no_row() {
        // 0 and 1 name each other, 2 names itself, 3 is below the cycle.
        let members = members(&[(1, Some(1)), (2, Some(0)), (3, Some(2)), (4, Some(0))]);
        let shown = grow(&members, &[0, 1, 2, 3]);
        let mut all: Vec<usize> = shown.iter().map(|shown| shown.row).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
        assert_eq!(rows(&shown), [(0, 0, false), (3, 1, false), (1, 1, true), (2, 0, true)]);
    }

    #[test]
    fn a_chain_of_any_length_is_no_accident() {
        let chain: Vec<Member> =
            (0..200_000).map(|row: usize| Member { modified: Some(0), parent: row.checked_sub(1) }).collect();
        let order: Vec<usize> = (0..chain.len()).collect();
        let shown = grow(&chain, &order);
        assert_eq!(shown.len(), chain.len());
        assert_eq!(shown.last().map(|shown| shown.depth), Some(chain.len() - 1));
    }
}
