//! The children of sessions, of which only new and changed files are read. What is shown of a child equals what
//! [`ChildList::of`] reads.

use std::path::Path;

use offshoot_session::children::{ChildInfo, ChildList, folder_of_children};
use offshoot_session::clock::Millis;
use offshoot_session::error::Result;
use offshoot_session::store::Folder;

use crate::database::{Changes, Database};
use crate::files;
use crate::{Catalogue, sort_out};

impl Catalogue {
    /// The children of each of the sessions in these files, in their order, as [`ChildList::of`] gives them. `now` is the current
    /// time. Database trouble is not an error.
    ///
    /// # Errors
    /// Of a session: the folder of its children cannot be read.
    pub fn children(&self, sessions: &[&Path], now: Millis) -> Vec<Result<ChildList>> {
        let found: Vec<Result<(Folder, usize)>> = sessions.iter().map(|file| folder_of_children(file)).collect();
        let folders: Vec<Folder> = found
            .iter()
            .map(|found| found.as_ref().map_or_else(|_| Folder::default(), |(folder, _)| folder.clone()))
            .collect();
        let mut read = self.read_children(&folders, now).into_iter();
        let list = |found: Result<(Folder, usize)>| {
            let read = read.next().unwrap_or_default();
            found.map(|(_, left_out)| ChildList::of_read(read, left_out))
        };
        found.into_iter().map(list).collect()
    }

    /// What was read of the files of each folder, in no order.
    fn read_children(&self, folders: &[Folder], now: Millis) -> Vec<Vec<Result<ChildInfo>>> {
        let mut of_folders: Vec<Vec<Result<ChildInfo>>> = folders.iter().map(|_| Vec::new()).collect();
        if folders.iter().all(|folder| folder.files.is_empty()) {
            return of_folders;
        }
        let folder_of = |at: usize| {
            let mut ends = folders.iter().scan(0, |end, folder| {
                *end += folder.files.len();
                Some(*end)
            });
            ends.position(|end| at < end).unwrap_or_default()
        };
        let mut database = Database::open(&self.file);
        let known = database.as_mut().map(|database| database.known(folders)).unwrap_or_default();
        let mut changes = Changes::default();
        let work = sort_out(folders, known, &Default::default(), &mut changes);
        let mut take = |folder: usize, child: Result<ChildInfo>| {
            if let Some(list) = of_folders.get_mut(folder) {
                list.push(child);
            }
        };
        for (at, found, row) in work.standing {
            take(folder_of(at), ChildInfo::of_reading(&found.path, row.reading));
        }
        files::read_all(&work.tasks, now, &mut |file| {
            changes.keep(file.folder, file.name, file.memory);
            take(file.folder, file.read.and_then(files::ReadFile::into_child));
        });
        if let Some(database) = database.filter(|_| !changes.is_empty()) {
            database.save(folders, changes);
        }
        of_folders
    }
}
