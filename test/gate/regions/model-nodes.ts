import type { Audit } from './model-audit.ts';
import { type Branch, newBranchDisk } from './model-branch-state.ts';
import { openBranch } from './model-branch.ts';
import { type Home, type HomeSettings, newHomeDisk } from './model-home-state.ts';
import { openHome } from './model-home.ts';
import type { Item } from './model-network.ts';
import { type Message, openTurn, type Process, type Turn } from './model-process.ts';
import type { Rules } from './model-rules.ts';
import type { Schedule } from './model-steps.ts';
import { type BranchName, BRANCHES, type NodeName } from './model-types.ts';

const NODES: readonly NodeName[] = ['home', ...BRANCHES];

interface Parts {
  rules: Rules;
  clocks: Schedule['clocks'];
  settings: HomeSettings;
  audit: Audit;
  add: (item: Item) => void;
}

/** The objects: their disks, and the processes that run. A process starts with the first message or alarm. */
export const openNodes = ({ rules, clocks, settings, audit, add }: Parts) => {
  const home = openHome(rules, settings);
  const branch = openBranch(rules, settings.periodAt);
  const disks: Record<NodeName, unknown> = { home: newHomeDisk(), A: newBranchDisk(), B: newBranchDisk() };
  const running = new Map<NodeName, Process>();
  /** Processes that were replaced, and the connection whose requests still reach them. */
  const replaced = new Map<NodeName, { process: Process; link: string }>();
  let realMs = 0;

  const nowAt = (name: NodeName) => realMs * (1 + clocks[name].drift) + clocks[name].offsetMs;

  /** Runs a turn, and puts the commit that it starts on its way. */
  const run = (process: Process, work: (turn: Turn) => void) => {
    const commits = process.commits.length;
    work(openTurn(process, nowAt(process.name), (message) => add({ message }), rules.sendsAfterCommit));
    if (process.commits.length > commits) add({ commit: process });
  };

  const start = (name: NodeName): Process => {
    const process: Process = {
      name,
      disk: disks[name],
      memory: null,
      commits: [],
      isReplaced: false,
      isOver: false,
    };
    running.set(name, process);
    run(process, (turn) =>
      name === 'home' ? home.start(process as Home, turn) : branch.start(process as Branch, turn),
    );
    return process;
  };

  const processOf = (name: NodeName): Process => running.get(name) ?? start(name);

  const stop = (name: NodeName): Process | undefined => {
    const process = running.get(name);
    running.delete(name);
    if (name !== 'home') audit.branchRestarted(name);
    return process;
  };

  return {
    home,
    branch,
    nowAt,
    runningHome: () => running.get('home') as Home | undefined,
    runningBranch: (name: BranchName) => running.get(name) as Branch | undefined,
    homeDisk: () => disks.home as Home['disk'],

    setTime: (ms: number) => {
      realMs = ms;
    },

    receive: (name: NodeName, message: Message) => {
      const before = replaced.get(name);
      const isMisled = before?.link === message.link && !before.process.isOver;
      const process = message.receiver ?? (isMisled ? before.process : processOf(name));
      if (process.isOver) return;
      run(process, (turn) =>
        name === 'home'
          ? home.receive(process as Home, turn, message)
          : branch.receive(process as Branch, turn, message),
      );
    },

    /** While its requests still reach the process that was replaced, a connection brings nothing from the new one. */
    isShadowed: ({ link, from, sender }: Message): boolean => {
      const before = from === 'worker' ? undefined : replaced.get(from);
      return before?.link === link && !before.process.isOver && before.process !== sender;
    },

    finishCommit: (process: Process) => {
      const commit = process.commits.shift();
      if (!commit || process.isOver) return;
      if (process.isReplaced) {
        process.isOver = true;
        return;
      }
      disks[process.name] = commit.disk;
      for (const counted of commit.counted) audit.counted(counted);
      for (const event of (commit.disk as { events: string[] }).events) audit.eventStored(event);
      for (const message of commit.messages) add({ message });
    },

    tick: () => {
      for (const name of NODES) {
        const process = processOf(name);
        run(process, (turn) =>
          name === 'home' ? home.tick(process as Home, turn) : branch.tick(process as Branch, turn),
        );
      }
    },

    crash: (name: NodeName) => {
      const process = stop(name);
      if (process) process.isOver = true;
    },

    /** Another process takes the place of the one that runs, which doesn't notice it before it writes. */
    replace: (name: NodeName, link: string) => {
      const process = stop(name);
      if (!process) return;
      process.isReplaced = true;
      replaced.set(name, { process, link });
    },

    forgetReplaced: () => replaced.clear(),
  };
};
