'use strict';
// Keeps the live page up to date: the whole state first, then what changes, by server-sent events.
// Everything that comes is put in as text, never as markup.
(() => {
  const byId = (id) => document.getElementById(id);
  const words = JSON.parse(byId('words').textContent);
  const GLYPHS = {
    waiting: '·', running: '▶', done: '✓', failed: '✕', refused: '∅', 'left-out': '–',
  };
  const SECONDS_MAX = 600;
  const LINES_MAX = 500;
  let state = null;

  const text = (id, value) => {
    const element = byId(id);
    if (element && element.textContent !== value) element.textContent = value;
  };
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
  const rate = (milli) => (milli === null ? '–' : grouped(Math.round(milli / 1000)));
  const digits = (value) => {
    const decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    const fixed = value.toFixed(decimals);
    return fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed;
  };
  const latency = (us) => {
    if (us === null) return '–';
    if (us < 1000) return `${us} µs`;
    return us < 999500 ? `${digits(us / 1000)} ms` : `${digits(us / 1000000)} s`;
  };
  const two = (number) => String(number).padStart(2, '0');
  const duration = (ms) => {
    const all = Math.floor(ms / 1000);
    const [d, h, m, s] = [Math.floor(all / 86400), Math.floor(all / 3600) % 24,
      Math.floor(all / 60) % 60, all % 60];
    if (all < 60) return `${s}${words.second}`;
    if (all < 3600) return `${m}${words.minute} ${two(s)}${words.second}`;
    if (all < 86400) return `${h}${words.hour} ${two(m)}${words.minute}`;
    return `${d}${words.day} ${two(h)}${words.hour}`;
  };
  const clock = (ms) => {
    const all = Math.floor(ms / 1000);
    return `${Math.floor(all / 3600)}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`;
  };

  const filled = (words, value) => words.replace('{}', value);
  const placeOf = (now) => {
    const number = now.trial ? now.trial.number : now.ended;
    const parts = [`${grouped(number)} ${words.of} ${grouped(now.trials)} ${words.trials}`,
      filled(words.gone, duration(now.gone_ms))];
    if (now.left_ms !== null) {
      const how = now.left_is_bound ? words.at_least : words.about;
      parts.push(filled(how, duration(now.left_ms)));
    }
    if (now.failed > 0) parts.push(filled(words.failed_count, grouped(now.failed)));
    return parts.join('  ·  ');
  };
  const labelOf = (trial) => {
    if (!trial) return '';
    const repetition = trial.repetition > 1 ? ` #${trial.repetition}` : '';
    return `${trial.spec}/${trial.scenario}/${trial.concurrency}${repetition}`;
  };
  const doingOf = (now) => {
    if (now.outcome !== null) return words.no_trial;
    if (!now.trial) return now.step || words.no_trial;
    const trial = now.trial;
    const phase = words[trial.phase] || trial.phase;
    if (trial.phase === 'connecting') return `${phase} ${trial.sessions}/${trial.concurrency}`;
    if (trial.phase_of_ms === null) return phase;
    const gone = Math.min(trial.phase_ms, trial.phase_of_ms);
    return `${phase} ${duration(gone)} ${words.of} ${duration(trial.phase_of_ms)}`;
  };

  const showNow = (now) => {
    const trial = now.trial;
    text('place', placeOf(now));
    text('label', labelOf(trial));
    text('doing', doingOf(now));
    text('now-qps', trial ? rate(trial.qps_milli) : '–');
    text('now-tps', trial ? rate(trial.tps_milli) : '–');
    text('now-p95', trial ? latency(trial.p95_us) : '–');
    text('now-errors', trial ? grouped(trial.errors) : '–');
    byId('bar').max = Math.max(now.trials, 1);
    byId('bar').value = now.ended;
    document.title = `${now.ended}/${now.trials} · ${state.title}`;
    if (now.outcome !== null) {
      const ending = byId('ending');
      ending.dataset.outcome = now.outcome;
      const reason = now.reason ? ` ${now.reason}` : '';
      text('ending', (words[`ended_${now.outcome}`] || now.outcome) + reason);
      ending.hidden = false;
      // Nobody answers any more.
      document.querySelectorAll('#stop, .served').forEach((gone) => { gone.hidden = true; });
    }
  };

  // The bar behind a rate is its share of the highest one of its scenario on its spec.
  const showShares = () => {
    const peaks = new Map();
    const key = (cell) => `${cell.spec}/${cell.scenario}`;
    for (const cell of state.cells) {
      peaks.set(key(cell), Math.max(peaks.get(key(cell)) || 0, cell.qps_milli || 0));
    }
    state.cells.forEach((cell, index) => {
      const share = cell.qps_milli ? (100 * cell.qps_milli) / peaks.get(key(cell)) : 0;
      const item = byId(`cell-${index}`);
      if (item) item.style.setProperty('--share', `${share.toFixed(1)}%`);
    });
  };
  const showCell = (index, cell) => {
    const item = byId(`cell-${index}`);
    if (!item) return;
    item.dataset.state = cell.state;
    item.classList.toggle('peak', cell.is_peak);
    item.querySelector('.glyph').textContent = GLYPHS[cell.state] || '?';
    item.querySelector('.vh').textContent = words[cell.state] || cell.state;
    item.querySelector('.rate').textContent = cell.qps_milli === null ? '' : rate(cell.qps_milli);
    const times = cell.trials > 1 && cell.measured > 0 ? `${cell.measured}/${cell.trials}` : '';
    item.querySelector('.times').textContent = times;
    const title = cell.reason || (cell.p95_us === null ? '' : `${words.p95} ${latency(cell.p95_us)}`);
    if (title) item.title = title; else item.removeAttribute('title');
  };

  const element = (name, className, content) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.textContent = content;
    return made;
  };
  const showLines = (lines) => {
    const log = byId('log');
    const first = log.firstElementChild;
    let last = first ? Number(first.dataset.number) : 0;
    for (const line of lines) {
      if (line.number <= last) continue;
      last = line.number;
      const item = document.createElement('li');
      item.dataset.number = line.number;
      item.dataset.kind = line.kind;
      item.append(element('time', '', clock(line.gone_ms)),
        element('span', 'kind', words[line.kind] || line.kind),
        element('span', 'words', line.words));
      log.prepend(item);
    }
    while (log.children.length > LINES_MAX) log.lastElementChild.remove();
  };

  const SVG = 'http://www.w3.org/2000/svg';
  const drawn = (name, attributes, content) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (content !== undefined) made.textContent = content;
    return made;
  };
  // A value whose first digit is 1, 2 or 5: the end of an axis.
  const ceiling = (value) => {
    if (!(value > 0)) return 1;
    const power = 10 ** Math.floor(Math.log10(value));
    const step = [1, 2, 3, 4, 5, 6, 8, 10].find((of) => of * power >= value);
    return step * power;
  };
  const panel = (svg, spot, values) => {
    const { top, height, width, name, label, className, x } = spot;
    const highest = Math.max(0, ...values.map((point) => point.value ?? 0));
    const end = ceiling(highest);
    const y = (value) => top + height - (value / end) * height;
    svg.append(
      drawn('line', { class: 'axis', x1: 0, x2: width, y1: top, y2: top }),
      drawn('line', { class: 'axis', x1: 0, x2: width, y1: top + height, y2: top + height }),
      drawn('text', { class: 'name', x: 0, y: top - 5 }, name),
      drawn('text', { x: width, y: top - 5, 'text-anchor': 'end' }, label(end)),
    );
    let line = '';
    let area = '';
    let run = [];
    const close = () => {
      if (run.length > 0) {
        const points = run.map((point) => `${x(point).toFixed(1)} ${y(point.value).toFixed(1)}`);
        // A second that stands alone is a dot as wide as a line.
        const first = points.length === 1 ? `M${points[0]}h1` : `M${points.join('L')}`;
        line += first;
        if (points.length > 1) {
          area += `${first}L${x(run[run.length - 1]).toFixed(1)} ${top + height}` +
            `L${x(run[0]).toFixed(1)} ${top + height}Z`;
        }
      }
      run = [];
    };
    values.forEach((point) => {
      const before = run[run.length - 1];
      const isNext = before && point.trial === before.trial && point.gone_ms - before.gone_ms < 2500;
      if (!isNext || point.value === null) close();
      if (point.value !== null) run.push(point);
    });
    close();
    if (className === 'qps') svg.append(drawn('path', { class: 'area', d: area }));
    svg.append(drawn('path', { class: `curve ${className}`, d: line }));
  };
  const showChart = () => {
    const seconds = state.seconds;
    byId('series').hidden = seconds.length === 0;
    if (seconds.length === 0) return;
    const svg = byId('chart');
    const width = Math.max(svg.clientWidth, 200);
    svg.setAttribute('viewBox', `0 0 ${width} 212`);
    const end = Math.max(state.now.gone_ms, seconds[seconds.length - 1].gone_ms);
    // Ten minutes, or what there is of them: two at least, so that a line is not drawn out.
    const minutes = Math.min(10, Math.max(2, Math.ceil((end - seconds[0].gone_ms) / 60000)));
    const span = minutes * 60000;
    const x = (point) => Math.max(0, width - ((end - point.gone_ms) / span) * width);
    const recent = seconds.filter((second) => end - second.gone_ms <= span);
    const of = (key) => recent.map((second) => ({ ...second, value: second[key] }));
    svg.replaceChildren();
    panel(svg, { top: 18, height: 92, width, x, name: words.qps, label: rate, className: 'qps' },
      of('qps_milli'));
    panel(svg, { top: 134, height: 52, width, x, name: words.p95, label: latency, className: 'p95' },
      of('p95_us'));
    const step = width < 500 ? Math.ceil(minutes / 2) : Math.ceil(minutes / 5);
    for (let minute = 0; minute <= minutes; minute += step) {
      const anchor = minute === 0 ? 'end' : minute === minutes ? 'start' : 'middle';
      const at = width - (minute / minutes) * width;
      const label = minute === 0 ? words.latest : filled(words.ago, minute);
      svg.append(drawn('text', { x: at, y: 204, 'text-anchor': anchor }, label));
    }
    const last = seconds[seconds.length - 1];
    const highest = Math.max(...recent.map((second) => second.qps_milli || 0));
    svg.setAttribute('aria-label', `${words.qps}: ${words.latest} ${rate(last.qps_milli)}, ` +
      `${words.highest} ${rate(highest)}. ${words.p95}: ${words.latest} ${latency(last.p95_us)}.`);
  };

  const showAll = (whole) => {
    // Another run, or one that had not said yet what it would do: another page.
    const cells = document.querySelectorAll('.levels li').length;
    if (whole.cells.length !== cells || (state && whole.run !== state.run)) {
      location.reload();
      return;
    }
    state = whole;
    state.cells.forEach((cell, index) => showCell(index, cell));
    showShares();
    showLines(state.log);
    showNow(state.now);
    showChart();
  };
  const showChange = (change) => {
    if (!state) return;
    for (const { index, cell } of change.cells) {
      state.cells[index] = cell;
      showCell(index, cell);
    }
    if (change.cells.length > 0) showShares();
    state.now = change.now;
    state.seconds = state.seconds.concat(change.seconds).slice(-SECONDS_MAX);
    showLines(change.log);
    showNow(change.now);
    showChart();
  };

  const connection = (name) => {
    byId('connection').dataset.state = name;
    text('connection', name === 'live' ? words.connected : name === 'lost' ? words.lost : '');
  };
  const listen = () => {
    const source = new EventSource('/events');
    const heard = (show) => (event) => {
      connection('live');
      show(JSON.parse(event.data));
      if (state && state.now.outcome !== null) {
        source.close();
        connection('none');
      }
    };
    source.addEventListener('state', heard(showAll));
    source.addEventListener('change', heard(showChange));
    source.addEventListener('end', heard(showChange));
    source.onerror = () => {
      connection('lost');
      // A browser gives up where the answer was no stream; the run may still go on.
      if (source.readyState === EventSource.CLOSED) {
        setTimeout(listen, 3000);
      }
    };
  };

  const form = byId('stop-form');
  if (form) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      fetch('/stop', { method: 'POST', body: new URLSearchParams(new FormData(form)) })
        .then((answer) => text('stop-answer', answer.ok ? words.stopping : words.stop_refused))
        .catch(() => text('stop-answer', words.lost));
    });
  }
  let resized = 0;
  addEventListener('resize', () => {
    cancelAnimationFrame(resized);
    resized = requestAnimationFrame(() => state && showChart());
  });
  listen();
})();
