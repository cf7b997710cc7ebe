//! Operations on a todo list, by omp's rules. A task is named by its text, a phase by its name. Pure.

use offshoot_session::todo::{TodoList, TodoPhase, TodoStatus, TodoTask};

use super::{TodoInput, TodoOperation};

/// The phase of tasks that are given without one.
pub(super) const ONLY_PHASE: &str = "Tasks";

/// The list after an operation.
///
/// # Errors
/// What is wrong with the call; then nothing is changed.
pub(super) fn changed(list: &TodoList, input: &TodoInput) -> Result<TodoList, String> {
    let mut list = list.clone();
    match input.op {
        TodoOperation::View => return Ok(list),
        TodoOperation::Init => list = begun(input)?,
        TodoOperation::Append => append(&mut list, input)?,
        TodoOperation::Rm => remove(&mut list, input)?,
        TodoOperation::Start => {
            let name = input.task.as_deref().ok_or("start needs the text of a task (task)")?;
            let at = place(&list, name)?;
            for task in all(&mut list).filter(|task| task.status == TodoStatus::InProgress) {
                task.status = TodoStatus::Pending;
            }
            list.phases[at.0].tasks[at.1].status = TodoStatus::InProgress;
        }
        TodoOperation::Done => {
            named(&mut list, input)?.into_iter().for_each(|task| task.status = TodoStatus::Completed);
        }
        TodoOperation::Drop => {
            named(&mut list, input)?.into_iter().for_each(|task| task.status = TodoStatus::Abandoned);
        }
        TodoOperation::Block => {
            let reason = input.reason.as_deref().map(one_line).filter(|reason| !reason.is_empty());
            for task in some(&mut list, input)?.into_iter().filter(|task| !task.status.is_closed()) {
                (task.status, task.blocker) = (TodoStatus::Blocked, reason.clone());
            }
        }
        TodoOperation::Unblock => {
            for task in some(&mut list, input)?.into_iter().filter(|task| task.status == TodoStatus::Blocked) {
                (task.status, task.blocker) = (TodoStatus::Pending, None);
            }
        }
    }
    settle(&mut list);
    Ok(list)
}

fn all(list: &mut TodoList) -> impl Iterator<Item = &mut TodoTask> {
    list.phases.iter_mut().flat_map(|phase| &mut phase.tasks)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One task is under way: the first that is, else the first that waits.
fn settle(list: &mut TodoList) {
    if list.tasks().any(|task| task.status == TodoStatus::InProgress) {
        let under_way = all(list).filter(|task| task.status == TodoStatus::InProgress);
        under_way.skip(1).for_each(|task| task.status = TodoStatus::Pending);
    } else if let Some(next) = all(list).find(|task| task.status == TodoStatus::Pending) {
        next.status = TodoStatus::InProgress;
    }
}

fn begun(input: &TodoInput) -> Result<TodoList, String> {
    let phase = |name: &str, items: &[String]| TodoPhase {
        name: name.to_owned(),
        tasks: items.iter().map(|item| TodoTask::new(item)).collect(),
    };
    let list = match (&input.list, &input.items) {
        (Some(list), _) => list.iter().map(|one| phase(&one.phase, &one.items)).collect(),
        (None, Some(items)) if !items.is_empty() => vec![phase(input.phase.as_deref().unwrap_or(ONLY_PHASE), items)],
        (None, _) => return Err("init needs tasks: list (phases with items), or items".to_owned()),
    };
    let list = TodoList { phases: list };
    if let Some(empty) = list.phases.iter().find(|phase| phase.tasks.is_empty()) {
        return Err(format!("the phase {:?} has no items", empty.name));
    }
    let mut names: Vec<&str> = list.phases.iter().map(|phase| phase.name.as_str()).collect();
    let mut tasks: Vec<&str> = list.tasks().map(|task| task.content.as_str()).collect();
    for (what, names) in [("phase", &mut names), ("task", &mut tasks)] {
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("the {what} {:?} is there twice: its text is its name", twice[0]));
        }
    }
    Ok(list)
}

fn append(list: &mut TodoList, input: &TodoInput) -> Result<(), String> {
    let (Some(name), Some(items)) = (&input.phase, input.items.as_ref().filter(|items| !items.is_empty())) else {
        return Err("append needs a phase and items".to_owned());
    };
    let mut known: Vec<&str> = list.tasks().map(|task| task.content.as_str()).collect();
    for item in items {
        if known.contains(&item.as_str()) {
            return Err(format!("there is a task {item:?} already"));
        }
        known.push(item);
    }
    let at = list.phases.iter().position(|phase| phase.name == *name).unwrap_or(list.phases.len());
    if at == list.phases.len() {
        list.phases.push(TodoPhase { name: name.clone(), tasks: Vec::new() });
    }
    list.phases[at].tasks.extend(items.iter().map(|item| TodoTask::new(item)));
    Ok(())
}

fn remove(list: &mut TodoList, input: &TodoInput) -> Result<(), String> {
    match (&input.task, &input.phase) {
        (Some(name), _) => {
            let (phase, task) = place(list, name)?;
            list.phases[phase].tasks.remove(task);
        }
        (None, Some(name)) => phase(list, name)?.tasks.clear(),
        (None, None) => list.phases.iter_mut().for_each(|phase| phase.tasks.clear()),
    }
    Ok(())
}

/// The named task, those of the named phase, or all.
fn named<'a>(list: &'a mut TodoList, input: &TodoInput) -> Result<Vec<&'a mut TodoTask>, String> {
    match (&input.task, &input.phase) {
        (Some(name), _) => {
            let (phase, task) = place(list, name)?;
            Ok(vec![&mut list.phases[phase].tasks[task]])
        }
        (None, Some(name)) => Ok(phase(list, name)?.tasks.iter_mut().collect()),
        (None, None) => Ok(all(list).collect()),
    }
}

/// The same, but never all.
fn some<'a>(list: &'a mut TodoList, input: &TodoInput) -> Result<Vec<&'a mut TodoTask>, String> {
    if input.task.is_none() && input.phase.is_none() {
        return Err(format!("{} needs a task or a phase", input.op.as_str()));
    }
    named(list, input)
}

fn phase<'a>(list: &'a mut TodoList, name: &str) -> Result<&'a mut TodoPhase, String> {
    let names: Vec<String> = list.phases.iter().map(|phase| format!("{:?}", phase.name)).collect();
    let found = list.phases.iter_mut().find(|phase| phase.name == name);
    found.ok_or_else(|| format!("there is no phase {name:?}; there are {}", names.join(", ")))
}

/// The places of a task's phase and of the task in it.
fn place(list: &TodoList, name: &str) -> Result<(usize, usize), String> {
    let found = list
        .phases
        .iter()
        .enumerate()
        .find_map(|(at, phase)| Some((at, phase.tasks.iter().position(|task| task.content == name)?)));
    found.ok_or_else(|| match list.tasks().next() {
        None => format!("there is no task {name:?}: the list is empty"),
        Some(_) => format!("there is no task {name:?}: give its whole text, as view shows it"),
    })
}
