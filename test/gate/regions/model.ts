import { openAudit } from './model-audit.ts';
import { newBranchDisk, openBranch } from './model-branch.ts';
import { openHome } from './model-home.ts';
import { newHomeDisk } from './model-home-state.ts';
import { type Message, openTurn, type Process, type Turn } from './model-process.ts';
import type { Rules } from './model-rules.ts';
import type { Schedule, Step } from './model-steps.ts';
import { type Body, type BranchName, BRANCHES, type Call, LICENSES, type NodeName } from './model-types.ts';

export const LIMIT = 90;
export const CALLS_PER_SECOND = 64;
const PERIOD_MS = 120_000;
const NODES: readonly NodeName[] = ['home', ...BRANCHES];
/** After this long the Worker asks home itself, and after this long again it gives up. */
const WORKER_MS = 5_000;
const CHANGE_RETRY_MS = 3_000;
const TICK_MS = 1_000;
const REST_TICK_MS = 5_000;

interface Asked {
  call: Call;
  isDirect: boolean;
  untilMs: number;
}

type Item = { message: Message } | { commit: Process };

const isOf = (item: Item, kind: Body['kind'] | null) => 'message' in item && item.message.body.kind === kind;

/** A home, two branches, the network between them and callers, under a virtual clock. It throws where a promise breaks. */
export const openModel = (rules: Rules, { clocks, startMs }: Schedule) => {
  let realMs = PERIOD_MS * 10 + startMs;
  let ids = 0;
  let checked: unknown = null;
  const versions = Array.from({ length: LICENSES }, () => 0);
  const audit = openAudit(LIMIT);
  const pool: Item[] = [];
  const held: Item[] = [];
  const cuts = new Set<string>();
  const asked = new Map<string, Asked>();
  const changes = new Map<string, { license: number; version: number; retryMs: number }>();
  const disks: Record<NodeName, unknown> = { home: newHomeDisk(), A: newBranchDisk(), B: newBranchDisk() };
  const processes = new Map<NodeName, Process>();
  /** Processes that were replaced, and the connection whose requests still reach them. */
  const replaced = new Map<NodeName, { process: Process; link: string }>();

  const periodAt = (nowMs: number) => Math.floor(nowMs / PERIOD_MS) * PERIOD_MS;
  const home = openHome(rules, {
    limit: LIMIT,
    callsPerSecond: CALLS_PER_SECOND,
    periodAt,
    versions: () => versions,
  });
  const branch = openBranch(rules, periodAt);
  type HomeProcess = Parameters<typeof home.start>[0];
  type BranchProcess = Parameters<typeof branch.start>[0];

  const nowAt = (name: NodeName) => {
    const { drift, offsetMs } = clocks[name];
    return realMs * (1 + drift) + offsetMs;
  };

  /** Runs a turn, and puts the commit that it starts on its way. */
  const run = (process: Process, work: (turn: Turn) => void) => {
    const before = process.commits.length;
    work(openTurn(process, nowAt(process.name), (message) => pool.push({ message }), rules.sendsAfterCommit));
    if (process.commits.length > before) pool.push({ commit: process });
  };

  const processOf = (name: NodeName): Process => {
    const running = processes.get(name);
    if (running) return running;
    const process: Process = {
      name,
      disk: disks[name],
      memory: null,
      commits: [],
      isReplaced: false,
      isOver: false,
    };
    processes.set(name, process);
    run(process, (turn) =>
      name === 'home'
        ? home.start(process as HomeProcess, turn)
        : branch.start(process as BranchProcess, turn),
    );
    return process;
  };

  const receive = (process: Process, message: Message) =>
    run(process, (turn) =>
      process.name === 'home'
        ? home.receive(process as HomeProcess, turn, message)
        : branch.receive(process as BranchProcess, turn, message),
    );

  const send = (to: NodeName, body: Body) =>
    pool.push({ message: { from: 'worker', to, sender: null, receiver: null, link: `worker-${to}`, body } });

  const receiveWorker = ({ body }: Message) => {
    if (body.kind === 'changed') {
      const change = changes.get(body.id);
      if (change) audit.changeAnswered(change.license, change.version);
      changes.delete(body.id);
    }
    if (body.kind !== 'verified') return;
    const call = asked.get(body.answer.callId);
    if (!call) return;
    asked.delete(body.answer.callId);
    audit.answered(body.answer, !call.isDirect);
  };

  const finishCommit = (process: Process) => {
    const commit = process.commits.shift();
    if (!commit || process.isOver) return;
    if (process.isReplaced) {
      process.isOver = true;
      return;
    }
    disks[process.name] = commit.disk;
    for (const counted of commit.counted) audit.counted(counted);
    for (const event of (commit.disk as { events: string[] }).events) audit.eventStored(event);
    for (const message of commit.messages) pool.push({ message });
  };

  const deliverMessage = (message: Message) => {
    const { to, receiver, body } = message;
    if (to === 'worker') return receiveWorker(message);
    if (to === 'outbox') {
      if (body.kind !== 'accept') return;
      for (const event of body.events) audit.eventAccepted(event);
      const { sender, from, link } = message;
      const reply = { kind: 'accepted', events: body.events } as const;
      pool.push({
        message: { from: 'worker', to: from as NodeName, sender: null, receiver: sender, link, body: reply },
      });
      return;
    }
    const before = replaced.get(to);
    const isMisled = before !== undefined && !before.process.isOver && before.link === message.link;
    const process = receiver ?? (isMisled ? before.process : processOf(to));
    if (!process.isOver) receive(process, message);
  };

  /** While its requests still reach the process that was replaced, a connection brings nothing from the new one. */
  const isCut = ({ link, from, sender }: Message) => {
    if (cuts.has(link)) return true;
    const before = from === 'worker' ? undefined : replaced.get(from);
    return (
      before !== undefined && before.link === link && !before.process.isOver && before.process !== sender
    );
  };

  const deliver = (item: Item | undefined): boolean => {
    if (!item) return false;
    if ('commit' in item) finishCommit(item.commit);
    else if (isCut(item.message)) return false;
    else deliverMessage(item.message);
    return true;
  };

  /** Delivers what is under way, in order, but holds up the first message of a kind. */
  const flow = (rounds: number, hold: Body['kind'] | null = null) => {
    let isHeld = hold === null;
    for (let round = 0; round < rounds && pool.length > 0; round++) {
      const items = pool.splice(0);
      const left = items.filter((item) => {
        if (isHeld || !isOf(item, hold)) return !deliver(item);
        isHeld = true;
        held.push(item);
        return false;
      });
      pool.unshift(...left);
      if (left.length === pool.length) return;
    }
  };

  const find = (pick: number | Body['kind']) =>
    typeof pick === 'number' ? pick % Math.max(1, pool.length) : pool.findIndex((item) => isOf(item, pick));

  const verify = (name: BranchName, license: number, weight: number, isDirect: boolean): string => {
    const id = `c${ids++}`;
    const call = { id, license, region: name, weight };
    asked.set(id, { call, isDirect, untilMs: realMs + WORKER_MS });
    audit.began(call);
    send(isDirect ? 'home' : name, { kind: 'verify', call });
    return id;
  };

  const retry = () => {
    for (const [id, call] of asked) {
      if (realMs < call.untilMs) continue;
      audit.isAmbiguous(id);
      if (call.isDirect) asked.delete(id);
      else {
        Object.assign(call, { isDirect: true, untilMs: realMs + WORKER_MS });
        send('home', { kind: 'verify', call: call.call });
      }
    }
    for (const [id, change] of changes) {
      if (realMs < change.retryMs) continue;
      change.retryMs = realMs + CHANGE_RETRY_MS;
      send('home', { kind: 'change', id });
    }
  };

  const tick = () => {
    for (const name of NODES) {
      const process = processOf(name);
      run(process, (turn) =>
        name === 'home'
          ? home.tick(process as HomeProcess, turn)
          : branch.tick(process as BranchProcess, turn),
      );
    }
    retry();
  };

  const pass = (ms: number, tickMs = TICK_MS) => {
    for (let left = ms; left > 0; left -= tickMs) {
      realMs += Math.min(left, tickMs);
      tick();
      check();
    }
  };

  /** Checks what holds at every moment. */
  const check = () => {
    const running = processes.get('home') as HomeProcess | undefined;
    let shares = running ? home.shareOf(running) : 0;
    for (const name of BRANCHES) {
      const process = processes.get(name) as BranchProcess | undefined;
      if (!process) continue;
      const nowMs = nowAt(name);
      for (let license = 0; license < LICENSES; license++)
        audit.checkShown(license, branch.shows(process, nowMs, license));
      if (branch.mayAnswer(process, nowMs)) shares += process.memory.share?.perSecond ?? 0;
    }
    audit.check(shares <= CALLS_PER_SECOND + 1e-6, `the shares add up to ${shares}`);
    const disk = running?.disk ?? (disks.home as HomeProcess['disk']);
    if (disk === checked) return;
    checked = disk;
    const periodStartMs = periodAt(nowAt('home'));
    for (const period of [periodStartMs, periodStartMs - PERIOD_MS]) {
      const committed = home.committedOf(disk, period);
      audit.check(committed <= LIMIT, `home has counted or granted ${committed} of ${LIMIT}`);
    }
  };

  const take = (step: Step) => {
    switch (step.do) {
      case 'verify':
        verify(step.branch, step.license, step.weight, step.isDirect);
        break;
      case 'change': {
        const id = `ch${ids++}`;
        const version = (versions[step.license] ?? 0) + 1;
        versions[step.license] = version;
        changes.set(id, { license: step.license, version, retryMs: realMs + CHANGE_RETRY_MS });
        send('home', { kind: 'change', id });
        break;
      }
      case 'deliver': {
        const at = find(step.pick);
        const [item] = at < 0 ? [] : pool.splice(at, 1);
        if (item && !deliver(item)) pool.push(item);
        break;
      }
      case 'flow':
        flow(step.rounds, step.hold);
        break;
      case 'release':
        pool.push(...held.splice(0));
        break;
      case 'lapse': {
        const leases = Object.values((processes.get('home') as HomeProcess | undefined)?.memory.known ?? {});
        const endsMs = leases
          .map(({ leasedUntilMs }) => leasedUntilMs - nowAt('home'))
          .filter((ms) => ms > 0);
        if (endsMs.length > 0) pass(Math.min(...endsMs) / (1 + clocks.home.drift) + step.ms);
        break;
      }
      case 'strand': {
        const link = `home-${step.branch}`;
        if (step.then === 'replace') take({ do: 'replace', node: 'home', link });
        else cuts.add(link);
        take({ do: 'change', license: step.license });
        flow(2);
        if (step.then === 'crash') take({ do: 'crash', node: 'home', link });
        else take({ do: 'lapse', ms: 0 });
        pass(step.then === 'crash' ? CHANGE_RETRY_MS : 0);
        flow(3);
        break;
      }
      case 'drop':
      case 'repeat': {
        const at = find(step.pick);
        const item = pool[at];
        if (!item || !('message' in item)) break;
        if (step.do === 'drop') pool.splice(at, 1);
        else pool.push(item);
        break;
      }
      case 'time':
        pass(step.ms);
        break;
      case 'crash':
      case 'replace': {
        const process = processes.get(step.node);
        if (!process) break;
        processes.delete(step.node);
        process.isOver = step.do === 'crash';
        process.isReplaced = true;
        if (step.do === 'replace') replaced.set(step.node, { process, link: step.link });
        if (step.node !== 'home') audit.branchRestarted(step.node);
        break;
      }
      case 'cut':
        cuts.add(step.link);
        break;
      case 'heal':
        cuts.clear();
        break;
    }
    check();
  };

  /** Heals the network and lets everything come to rest. */
  const rest = (seconds: number) => {
    cuts.clear();
    replaced.clear();
    pool.push(...held.splice(0));
    for (let second = 0; second < seconds; second += REST_TICK_MS / 1_000) {
      flow(20);
      pass(REST_TICK_MS, REST_TICK_MS);
    }
    flow(20);
  };

  /** Calls until the limit is reached, and checks that it is reached exactly. */
  const exhaust = () => {
    for (const weight of [16, 4, 1]) {
      for (let refused = 0; refused < BRANCHES.length;) {
        const name = BRANCHES[refused] ?? 'A';
        const id = verify(name, 0, weight, false);
        flow(30);
        if (audit.wasAdmitted(id)) refused = 0;
        else refused++;
      }
    }
    const counted = audit.countedIn(periodAt(nowAt('home')));
    audit.check(counted === LIMIT, `after the last call, ${counted} of ${LIMIT} were counted`);
  };

  return {
    take,

    /** Checks what must hold in the end. */
    finish: (isExhausted: boolean) => {
      rest(35);
      audit.check(changes.size === 0, 'a change was not answered');
      if (isExhausted) exhaust();
      rest(60);
      const { branches, counted, events } = disks.home as HomeProcess['disk'];
      audit.check(Object.keys(branches).length === 0, 'a branch is still open');
      audit.checkEnd(counted, events.length);
    },
  };
};
