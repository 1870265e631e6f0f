//! `epoll`. All descriptors are level-triggered: those that ask for edges (`EPOLLET`) are told again what still holds.

use super::poll::{from_guest, to_guest};
use super::{Answer, Call, DONE, Reply, Wait, value};
use crate::linux::abi::{Errno, flags};
use crate::linux::fs::{Description, Interest, Node};
use std::sync::Arc;

const ADD: u32 = 1;
const DELETE: u32 = 2;
const MODIFY: u32 = 3;
/// Forgets what was asked for once it was told.
const ONESHOT: u32 = 1 << 30;
/// Bytes of `struct epoll_event`: the data is at 8.
const EVENT: u32 = 16;
/// Events that one call tells.
const MAX_EVENTS: u32 = 4096;

fn create(call: &mut Call<'_>, close_on_exec: bool) -> Reply {
    let file = Description::new(Node::Epoll(Default::default()), Vec::new(), 2);
    value(call.process.files.insert(file, close_on_exec, 0)?)
}

pub(super) fn epoll_create(call: &mut Call<'_>) -> Reply {
    if call.arg(0) as i32 <= 0 {
        return Err(Errno::EINVAL);
    }
    create(call, false)
}

pub(super) fn epoll_create1(call: &mut Call<'_>) -> Reply {
    if call.arg(0) & !flags::O_CLOEXEC != 0 {
        return Err(Errno::EINVAL);
    }
    create(call, call.arg(0) & flags::O_CLOEXEC != 0)
}

pub(super) fn epoll_ctl(call: &mut Call<'_>) -> Reply {
    let (epoll, op, fd, event) = (call.file(0)?, call.arg(1), call.arg(2), call.arg(3));
    let file = call.file(2)?;
    let Node::Epoll(interests) = &epoll.node else { return Err(Errno::EINVAL) };
    match &file.node {
        // Nested sets are refused: cycles of them would have to be found.
        Node::Epoll(_) => return Err(Errno::ELOOP),
        Node::Host { .. } if file.may_wait() => {}
        Node::Event(_) => {}
        _ => return Err(Errno::EPERM),
    }
    let asked = if op == DELETE {
        None
    } else {
        let data = call.get(event.wrapping_add(8), 8)?;
        let data = *data.first_chunk().ok_or(Errno::EFAULT)?;
        Some(Interest { file: Arc::downgrade(&file), events: call.word(event)?, data })
    };
    let mut interests = interests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    interests.retain(|_, interest| interest.file.strong_count() != 0);
    let is_there = interests.get(&fd).is_some_and(|old| old.file.as_ptr() == Arc::as_ptr(&file));
    match (op, asked) {
        (ADD, Some(_)) if is_there => return Err(Errno::EEXIST),
        (MODIFY | DELETE, _) if !is_there => return Err(Errno::ENOENT),
        (ADD | MODIFY, Some(interest)) => drop(interests.insert(fd, interest)),
        (DELETE, _) => drop(interests.remove(&fd)),
        _ => return Err(Errno::EINVAL),
    }
    DONE
}

fn wait_until(call: &mut Call<'_>, deadline: Option<u64>) -> Reply {
    let epoll = call.file(0)?;
    let (place, most) = (call.arg(1), call.arg(2));
    let Node::Epoll(interests) = &epoll.node else { return Err(Errno::EINVAL) };
    if most == 0 || most as i32 <= 0 {
        return Err(Errno::EINVAL);
    }
    let mut interests = interests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    interests.retain(|_, interest| interest.file.strong_count() != 0);
    let (mut told, mut files) = (0, Vec::new());
    for interest in interests.values_mut() {
        // Errors and ends are told unasked, but not once all is forgotten.
        let Some(file) = interest.file.upgrade().filter(|_| interest.events & !ONESHOT != 0) else {
            continue;
        };
        let wanted = from_guest(interest.events);
        let found = to_guest(file.ready(wanted)?);
        if found != 0 && told < most.min(MAX_EVENTS) {
            let at = place.wrapping_add(EVENT * told);
            call.put_word(at, found)?;
            call.put(at.wrapping_add(8), &interest.data)?;
            told += 1;
            if interest.events & ONESHOT != 0 {
                interest.events = ONESHOT;
            }
        }
        files.push((file, wanted));
    }
    if told != 0 || call.expired(deadline) {
        return value(told);
    }
    Ok(Answer::Wait(Wait { deadline, files, ..Wait::default() }))
}

pub(super) fn epoll_wait(call: &mut Call<'_>) -> Reply {
    let nanos = u64::try_from(call.arg(3) as i32).ok().map(|millis| millis * 1_000_000);
    let deadline = call.deadline(nanos);
    wait_until(call, deadline)
}

pub(super) fn epoll_pwait(call: &mut Call<'_>) -> Reply {
    super::signal::mask_for_now(call, call.arg(4), call.arg(5))?;
    epoll_wait(call)
}

pub(super) fn epoll_pwait2(call: &mut Call<'_>) -> Reply {
    let nanos = match call.arg(3) {
        0 => None,
        address => Some(call.time(address, true)?),
    };
    super::signal::mask_for_now(call, call.arg(4), call.arg(5))?;
    let deadline = call.deadline(nanos);
    wait_until(call, deadline)
}
