//! Whose turn it is: the workers of a load thread, polled when their sockets have something.
//!
//! Must not know: what a worker does. To the runtime all of them are one local task. A reply wakes
//! nobody: its worker is polled by its number. Whatever else a worker waits for (a timer, the
//! pacer, a connection that is being made) calls it through a waker of the usual kind.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::coop::has_budget_remaining;

use crate::driver::{Arrivals, Sockets};

/// Runs its workers until none is left. Fails where the system does not tell what arrived.
pub(super) struct Rota<W> {
    workers: Vec<Place<W>>,
    /// How many have not ended.
    left: usize,
    sockets: AsyncFd<Rc<Sockets>>,
    arrivals: Arrivals,
    /// Who is to be polled, in this order.
    queue: VecDeque<usize>,
    calls: Arc<Calls>,
}

/// A worker, until it ends, and what calls it.
struct Place<W> {
    worker: Option<Pin<Box<W>>>,
    waker: Waker,
}

/// Who was called by something else than a socket.
#[derive(Default)]
struct Calls {
    /// In this order, each once.
    called: Mutex<Called>,
}

#[derive(Default)]
struct Called {
    bells: Vec<Arc<Bell>>,
    /// Of the task that runs the rota.
    waker: Option<Waker>,
}

/// Calls one worker.
struct Bell {
    number: usize,
    has_rung: AtomicBool,
    calls: Arc<Calls>,
}

impl<W: Future<Output = ()>> Rota<W> {
    /// For these workers; the numbers in `sockets` are their places. Each is polled once without
    /// being called. Within a runtime; fails where no more files can be opened.
    #[expect(
        deprecated,
        reason = "its successor is unsafe, because a type might change or lose its descriptor \
                  while it is registered; `Sockets` owns one for life"
    )]
    pub(super) fn new(sockets: Rc<Sockets>, workers: impl Iterator<Item = W>) -> io::Result<Self> {
        let sockets = AsyncFd::with_interest(sockets, Interest::READABLE)?;
        let calls = Arc::new(Calls::default());
        let place = |(number, worker)| {
            let (has_rung, calls) = (AtomicBool::new(false), Arc::clone(&calls));
            let waker = Waker::from(Arc::new(Bell { number, has_rung, calls }));
            Place { worker: Some(Box::pin(worker)), waker }
        };
        let workers: Vec<_> = workers.enumerate().map(place).collect();
        let left = workers.len();
        // Called and arrived both, at worst, and then nothing is allocated while the load runs.
        let mut queue = VecDeque::with_capacity(2 * left);
        queue.extend(0..left);
        calls.with(|called| called.bells.reserve(left));
        Ok(Self { workers, left, sockets, arrivals: Arrivals::default(), queue, calls })
    }

    /// Queues whom a socket has something for; whether there may be more of them.
    fn poll_sockets(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            let mut guard = ready!(self.sockets.poll_read_ready(context))?;
            let queue = &mut self.queue;
            let arrivals = &mut self.arrivals;
            if guard.get_inner().arrivals(arrivals, |number| queue.push_back(number))? {
                return Poll::Ready(Ok(true));
            }
            // The next round of this loop registers for what comes from now on.
            guard.clear_ready();
        }
    }

    fn poll_worker(&mut self, number: usize) {
        let Place { worker: place, waker } = &mut self.workers[number];
        let Some(worker) = place else { return };
        if worker.as_mut().poll(&mut Context::from_waker(waker)).is_ready() {
            *place = None;
            self.left -= 1;
        }
    }
}

impl<W: Future<Output = ()>> Future for Rota<W> {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.calls.take(context.waker(), &mut this.queue);
        let has_more = match this.poll_sockets(context) {
            Poll::Ready(result) => result?,
            Poll::Pending => false,
        };
        // What the runtime grants a task before others must have their turn is granted to all
        // workers together: who comes too late is first next time.
        while has_budget_remaining()
            && let Some(number) = this.queue.pop_front()
        {
            this.poll_worker(number);
        }
        if this.left == 0 {
            return Poll::Ready(Ok(()));
        }
        if has_more || !this.queue.is_empty() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Calls {
    fn with<T>(&self, work: impl FnOnce(&mut Called) -> T) -> T {
        work(&mut self.called.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Queues who was called; who is called from now on wakes this waker.
    fn take(&self, waker: &Waker, queue: &mut VecDeque<usize>) {
        self.with(|called| {
            for bell in called.bells.drain(..) {
                bell.has_rung.store(false, Ordering::Relaxed);
                queue.push_back(bell.number);
            }
            match &mut called.waker {
                Some(known) => known.clone_from(waker),
                none => *none = Some(waker.clone()),
            }
        });
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.has_rung.swap(true, Ordering::Relaxed) {
            return;
        }
        self.calls.with(|called| {
            called.bells.push(Arc::clone(self));
            if let Some(waker) = &called.waker {
                waker.wake_by_ref();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::time::Duration;

    use tokio::runtime::{Builder, LocalOptions};
    use tokio::task::{consume_budget, spawn_local, yield_now};
    use tokio::time::{sleep, timeout};

    use super::*;

    fn run<W>(workers: Vec<W>, others: impl Future<Output = ()> + 'static) -> io::Result<()>
    where
        W: Future<Output = ()> + 'static,
    {
        let options = LocalOptions::default();
        let runtime = Builder::new_current_thread().enable_all().build_local(options).unwrap();
        runtime.block_on(async {
            let sockets = Rc::new(Sockets::new(workers.len()).unwrap());
            let rota = spawn_local(Rota::new(sockets, workers.into_iter()).unwrap());
            others.await;
            timeout(Duration::from_secs(20), rota).await.expect("the workers end").unwrap()
        })
    }

    #[test]
    fn who_waits_for_something_else_than_a_socket_is_called_in_the_order_of_what_happens() {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let worker = |(number, millis)| {
            let seen = Rc::clone(&seen);
            async move {
                sleep(Duration::from_millis(millis)).await;
                yield_now().await;
                seen.borrow_mut().push(number);
            }
        };
        let workers: Vec<_> = [(0, 60), (1, 20), (2, 100)].map(worker).into();
        run(workers, std::future::ready(())).unwrap();
        assert_eq!(*seen.borrow(), [1, 0, 2]);
    }

    #[test]
    fn a_call_from_another_thread_is_heard() {
        let (tell, told) = tokio::sync::oneshot::channel();
        let worker = async { told.await.unwrap() };
        let teller = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            tell.send(()).unwrap();
        });
        run(vec![worker], std::future::ready(())).unwrap();
        teller.join().unwrap();
    }

    #[test]
    fn workers_that_never_wait_take_turns_with_each_other_and_with_the_runtime() {
        let is_over = Rc::new(Cell::new(false));
        let rounds = Rc::new([const { Cell::new(0_u64) }; 3]);
        let worker = |number: usize| {
            let (is_over, rounds) = (Rc::clone(&is_over), Rc::clone(&rounds));
            async move {
                while !is_over.get() {
                    rounds[number].set(rounds[number].get() + 1);
                    consume_budget().await;
                }
            }
        };
        let workers: Vec<_> = [0, 1, 2].map(worker).into();
        run(workers, async move {
            sleep(Duration::from_millis(50)).await;
            is_over.set(true);
        })
        .unwrap();
        let rounds: Vec<u64> = rounds.iter().map(Cell::get).collect();
        let (least, most) = (rounds.iter().min().unwrap(), rounds.iter().max().unwrap());
        assert!(*least > 100 && *most < 2 * least + 1000, "{rounds:?}");
    }
}
