//! What is answered, and to whom.
//!
//! Must not know: sockets, how a run is measured.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, Form, Query, Request, State};
use axum::http::header::{
    ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    REFERRER_POLICY, RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream::{Stream, unfold};
use serde::Deserialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::guard::{COOKIE_NAME, bearer, cookie, is_meant_for_us, is_of_our_page};
use super::hub::{Board, Message};
use super::server::{Seat, Seats, Served};
use super::words::Tongue;

/// A form with a token has no more.
const BODY_MAX: usize = 4 << 10;
/// How long a request may take until its answer begins.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// What keeps a stream open through whatever is between us and its reader.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// After how long a browser comes again.
const RETRY: Duration = Duration::from_secs(2);

/// What the routes share.
pub(super) struct App {
    pub(super) board: Board,
    pub(super) served: Served,
    pub(super) is_loopback: bool,
    pub(super) seats: Seats,
    pub(super) policy: HeaderValue,
    /// The report, and of how many trials it is.
    pub(super) report: tokio::sync::Mutex<Option<(u64, Arc<str>)>>,
}

type Shared = State<Arc<App>>;

/// All routes behind the guard.
pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(live))
        .route("/events", get(events))
        .route("/state.json", get(state))
        .route("/report", get(report))
        .route("/stop", post(stop))
        .fallback(|| async { plain(StatusCode::NOT_FOUND, "there is no such page\n") })
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

/// Lets in who may read, in the time that there is, and says to a browser what it may do.
async fn guard(State(app): Shared, request: Request, next: Next) -> Response {
    let mut response = match refusal(&app, &request) {
        Some(refused) => refused,
        None => match tokio::time::timeout(ANSWER_LIMIT, next.run(request)).await {
            Ok(response) => response,
            Err(_) => plain(StatusCode::REQUEST_TIMEOUT, "that took too long\n"),
        },
    };
    let headers = response.headers_mut();
    let mut always = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    always(X_CONTENT_TYPE_OPTIONS, "nosniff");
    always(X_FRAME_OPTIONS, "DENY");
    always(REFERRER_POLICY, "no-referrer");
    always(CACHE_CONTROL, "no-store");
    always(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    always(CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    response
}

/// Why a request is not even looked at.
fn refusal(app: &App, request: &Request) -> Option<Response> {
    let headers = request.headers();
    if !is_meant_for_us(headers, app.is_loopback) {
        let words = "this is served to this machine alone: open it as 127.0.0.1 or localhost\n";
        return Some(plain(StatusCode::FORBIDDEN, words));
    }
    if !request.method().is_safe() && !is_of_our_page(headers) {
        return Some(plain(StatusCode::FORBIDDEN, "that page may not ask for this\n"));
    }
    // That has a token of its own.
    let read = app.served.tokens.read.as_ref().filter(|_| request.uri().path() != "/stop")?;
    if cookie(headers).is_some_and(|given| read.is(given)) {
        return None;
    }
    if bearer(headers).is_some_and(|given| read.is(given)) {
        return None;
    }
    let given = request
        .uri()
        .query()
        .and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("token=")));
    match given.filter(|given| read.is(given)) {
        Some(given) => Some(welcome(request.uri().path(), given)),
        None => {
            let words = "open the link that was printed when the run began: it has the token\n";
            let mut refused = plain(StatusCode::UNAUTHORIZED, words);
            refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            Some(refused)
        }
    }
}

/// The token becomes a cookie, and goes out of the address.
fn welcome(path: &str, token: &str) -> Response {
    let cookie = format!("{COOKIE_NAME}={token}; Path=/; HttpOnly; SameSite=Strict");
    // A path that begins with two slashes would lead to another host.
    let path = if path.starts_with("//") { "/" } else { path };
    let headers = [(SET_COOKIE, cookie), (LOCATION, path.to_owned())];
    (StatusCode::SEE_OTHER, headers).into_response()
}

#[derive(Deserialize)]
struct LiveQuery {
    lang: Option<String>,
}

async fn live(State(app): Shared, query: Query<LiveQuery>, headers: HeaderMap) -> Response {
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let tongue = Tongue::of(query.lang.as_deref(), accepted);
    match app.board.page(tongue) {
        Ok(page) => html(page.to_string(), &app.policy),
        Err(error) => {
            let words = format!("the live page has a fault: {error}\n");
            plain(StatusCode::INTERNAL_SERVER_ERROR, words)
        }
    }
}

async fn state(State(app): Shared) -> Response {
    let json = app.board.json().to_string();
    ([(CONTENT_TYPE, "application/json")], json).into_response()
}

/// The whole state, then what changes, until the run is over, the reader is too slow, or readers
/// that came later need the seat.
async fn events(State(app): Shared) -> Response {
    let (first, rest) = app.board.listen();
    let is_over = app.board.snapshot().now.outcome.is_some();
    let seat = app.seats.take();
    let stream = Reading { first: Some(first), rest, seat, is_over };
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    Sse::new(stream.events()).keep_alive(keep_alive).into_response()
}

/// One reader's stream.
struct Reading {
    first: Option<Message>,
    rest: Receiver<Message>,
    seat: Seat,
    is_over: bool,
}

impl Reading {
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        unfold(self, |mut reading| async move {
            let message = reading.next().await?;
            let event = Event::default().event(message.name).id(message.id.to_string());
            let event = event.retry(RETRY).data(&*message.data);
            Some((Ok(event), reading))
        })
    }

    async fn next(&mut self) -> Option<Message> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if self.is_over {
            return None;
        }
        tokio::select! {
            message = self.rest.recv() => match message {
                Ok(message) => {
                    self.is_over = message.name == "end";
                    Some(message)
                }
                // It comes again, and is told all of it.
                Err(RecvError::Lagged(_) | RecvError::Closed) => None,
            },
            () = self.seat.lost() => None,
        }
    }
}

/// What is on disk so far, as the report of it. It is made once for each number of trials, however
/// many ask.
async fn report(State(app): Shared) -> Response {
    let mut kept = app.report.lock().await;
    let ended = app.served.hub.ended();
    if let Some((_, page)) = kept.as_ref().filter(|(of, _)| *of == ended) {
        return html(page.to_string(), &report_policy());
    }
    let render = Arc::clone(&app.served.report);
    match tokio::task::spawn_blocking(move || render()).await {
        Ok(Ok(page)) => {
            *kept = Some((ended, page.as_str().into()));
            html(page, &report_policy())
        }
        Ok(Err(words)) => {
            let mut answer = plain(StatusCode::SERVICE_UNAVAILABLE, words + "\n");
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
            answer
        }
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the report could not be made\n"),
    }
}

/// A report brings its own style and script, and asks nobody.
fn report_policy() -> HeaderValue {
    HeaderValue::from_static(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
         img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
         sandbox allow-scripts allow-downloads allow-modals",
    )
}

#[derive(Deserialize)]
struct StopForm {
    token: String,
}

/// Asks the run to stop, as Ctrl-C does.
async fn stop(
    State(app): Shared,
    headers: HeaderMap,
    form: Result<Form<StopForm>, FormRejection>,
) -> Response {
    let formed = form.ok().map(|Form(form)| form.token);
    let given = bearer(&headers).map(str::to_owned).or(formed);
    match given {
        Some(given) if app.served.tokens.stop.is(given.trim()) => {
            app.served.interrupt.request();
            plain(StatusCode::ACCEPTED, "the run was asked to stop; --resume goes on with it\n")
        }
        Some(_) => plain(StatusCode::FORBIDDEN, "that is not the stop token\n"),
        None => {
            let words = "stopping needs the stop token that was printed when the run began\n";
            let mut refused = plain(StatusCode::UNAUTHORIZED, words);
            refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            refused
        }
    }
}

fn html(page: String, policy: &HeaderValue) -> Response {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    ([(CONTENT_TYPE, kind), (CONTENT_SECURITY_POLICY, policy.clone())], page).into_response()
}

fn plain(status: StatusCode, words: impl Into<String>) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], words.into()).into_response()
}
