import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { openAudit } from './model-audit.ts';
import { CHANGE_RETRY_MS, openCallers } from './model-callers.ts';
import { type Item, openNetwork } from './model-network.ts';
import { openNodes } from './model-nodes.ts';
import type { Message } from './model-process.ts';
import type { Rules } from './model-rules.ts';
import type { Schedule, Settings, Step } from './model-steps.ts';
import { type Body, BRANCHES, LICENSES, type NodeName } from './model-types.ts';

const LIMIT = 240;
const CALLS_PER_SECOND = 64;
const PERIOD_MS = 120_000;
const TICK_MS = 1_000;
const REST_TICK_MS = 5_000;

/** A home, two branches, the network between them and callers, under a virtual clock. It throws where a promise breaks. */
const openModel = (rules: Rules, { clocks, startMs, settings: operatorSettings, isWarm }: Schedule) => {
  let realMs = 10 * PERIOD_MS + startMs;
  let checkedDisk: unknown = null;
  const audit = openAudit(LIMIT);
  const cuts = new Set<string>();

  const send = (to: NodeName, body: Body) => {
    const message = { from: 'worker', to, sender: null, receiver: null, link: `worker-${to}`, body } as const;
    network.add({ message });
  };

  const deliverMessage = (message: Message) => {
    const { to, from, body, sender, link } = message;
    if (to === 'worker') callers.receive(body);
    else if (to !== 'outbox') nodes.receive(to, message);
    else if (body.kind === 'accept' && from !== 'worker') {
      for (const event of body.events) audit.eventAccepted(event);
      const reply = { kind: 'accepted', events: body.events } as const;
      network.add({
        message: { from: 'worker', to: from, sender: null, receiver: sender, link, body: reply },
      });
    }
  };

  const deliver = (item: Item): boolean => {
    if ('commit' in item) nodes.finishCommit(item.commit);
    else if (cuts.has(item.message.link) || nodes.isShadowed(item.message)) return false;
    else deliverMessage(item.message);
    return true;
  };

  const network = openNetwork(deliver);
  const callers = openCallers(audit, send);
  const periodAt = (nowMs: number) => Math.floor(nowMs / PERIOD_MS) * PERIOD_MS;
  const settings = {
    limit: LIMIT,
    callsPerSecond: CALLS_PER_SECOND,
    periodAt,
    settingsOf: (start: number) => operatorSettings[Math.min(start, operatorSettings.length - 1)] as Settings,
    versions: () => callers.versions,
  };
  const nodes = openNodes({ rules, clocks, settings, audit, add: network.add });
  const { home, branch } = nodes;
  nodes.setTime(realMs);

  /** Checks what holds at every moment. */
  const check = () => {
    const running = nodes.runningHome();
    let shares = running ? home.shareOf(running) : 0;
    for (const name of BRANCHES) {
      const process = nodes.runningBranch(name);
      if (!process) continue;
      const nowMs = nodes.nowAt(name);
      for (let license = 0; license < LICENSES; license++)
        audit.checkShown(license, branch.shows(process, nowMs, license));
      if (branch.mayAnswer(process, nowMs)) shares += process.memory.share.perSecond;
    }
    audit.check(shares <= CALLS_PER_SECOND + 1e-6, () => `the shares add up to ${shares}`);
    const disk = running?.disk ?? nodes.homeDisk();
    if (disk === checkedDisk) return;
    checkedDisk = disk;
    const periodStartMs = periodAt(nodes.nowAt('home'));
    for (const period of [periodStartMs, periodStartMs - PERIOD_MS]) {
      const committed = home.committedOf(disk, period);
      audit.check(committed <= LIMIT, () => `home has counted or granted ${committed} of ${LIMIT}`);
    }
  };

  const pass = (ms: number, tickMs = TICK_MS) => {
    for (let left = ms; left > 0; left -= tickMs) {
      realMs += Math.min(left, tickMs);
      nodes.setTime(realMs);
      nodes.tick();
      callers.retry(realMs);
      check();
    }
  };

  /** Lets time pass until home takes the next lease for ended. */
  const lapse = (extraMs: number) => {
    const known = Object.values(nodes.runningHome()?.memory.known ?? {});
    const leftMs = known
      .map(({ leasedUntilMs }) => leasedUntilMs - nodes.nowAt('home'))
      .filter((ms) => ms > 0);
    if (leftMs.length === 0) return;
    const ms = Math.min(...leftMs) / (1 + clocks.home.drift) + extraMs;
    // Alarms come less often in the longest leases, which would take most of the model's time.
    const slowMs = Math.max(0, ms - LEASE_MS);
    pass(slowMs, REST_TICK_MS);
    pass(ms - slowMs);
  };

  const take = (step: Step): void => {
    switch (step.do) {
      case 'verify':
        callers.verify(step.branch, step.license, step.weight, step.isDirect, realMs);
        break;
      case 'change':
        callers.change(step.license, realMs);
        break;
      case 'deliver':
        network.deliverOne(step.pick);
        break;
      case 'flow':
        network.flow(step.rounds, step.hold);
        break;
      case 'release':
        network.release();
        break;
      case 'drop':
        network.drop(step.pick);
        break;
      case 'repeat':
        network.repeat(step.pick);
        break;
      case 'time':
        pass(step.ms);
        break;
      case 'lapse':
        lapse(step.ms);
        break;
      case 'crash':
        nodes.crash(step.node);
        break;
      case 'replace':
        nodes.replace(step.node, step.link);
        break;
      case 'strand': {
        const link = `home-${step.branch}`;
        if (step.end === 'replace') nodes.replace('home', link);
        else cuts.add(link);
        callers.change(step.license, realMs);
        network.flow(2);
        if (step.end === 'crash') nodes.crash('home');
        if (step.end === 'crash') pass(CHANGE_RETRY_MS);
        else lapse(0);
        network.flow(3);
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

  const warmUp = () => {
    for (let license = 0; license < LICENSES; license++) callers.change(license, realMs);
    network.flow(4);
    // The first calls open the branches, and those after the first renewal fill their copies.
    for (let round = 0; round < 3; round++) {
      for (const name of BRANCHES)
        for (let license = 0; license < LICENSES; license++) callers.verify(name, license, 1, false, realMs);
      network.flow(8);
    }
    pass(TICK_MS);
    network.flow(8);
    check();
  };
  if (isWarm) warmUp();

  /** Heals the network and lets everything come to rest. */
  const rest = (ms: number) => {
    cuts.clear();
    nodes.forgetReplaced();
    network.release();
    for (let left = ms; left > 0; left -= REST_TICK_MS) {
      network.flow(20);
      pass(REST_TICK_MS, REST_TICK_MS);
    }
    network.flow(20);
  };

  /** Calls until the limit is reached, and checks that it is reached exactly. */
  const exhaust = () => {
    for (const weight of [40, 6, 1]) {
      let refused = 0;
      while (refused < BRANCHES.length) {
        const id = callers.verify(BRANCHES[refused] ?? 'A', 0, weight, false, realMs);
        network.flow(30);
        refused = audit.wasAdmitted(id) ? 0 : refused + 1;
      }
    }
    const counted = audit.countedIn(periodAt(nodes.nowAt('home')));
    audit.check(counted === LIMIT, () => `after the last call, ${counted} of ${LIMIT} were counted`);
  };

  return {
    take,
    countedBy: audit.countedBy,

    /** Checks what must hold in the end. */
    finish: (isExhausted: boolean) => {
      const longest = Math.max(...operatorSettings.map(({ leaseMs }) => leaseMs));
      rest(longest * 1.01 + 5_000);
      audit.check(!callers.hasChanges(), () => 'a change was not answered');
      if (isExhausted) exhaust();
      rest(60_000);
      const { branches, counted, events } = nodes.homeDisk();
      audit.check(Object.keys(branches).length === 0, () => 'a branch is still open');
      audit.checkEnd(counted, events.length);
    },
  };
};

/** Runs a whole schedule, and returns how many calls were counted. */
export const runSchedule = (rules: Rules, schedule: Schedule) => {
  const model = openModel(rules, schedule);
  for (const step of schedule.steps) model.take(step);
  model.finish(schedule.isExhausted);
  return model.countedBy();
};
