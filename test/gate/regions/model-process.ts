import type { Body, NodeName } from './model-types.ts';

/** A call that a process counts, noted by the model when its commit is on disk. */
export interface CountedCall {
  id: string;
  weight: number;
  periodStartMs: number;
}

export interface Message {
  from: NodeName | 'worker';
  to: NodeName | 'worker' | 'outbox';
  /** The process that has sent it. Null if it is the Worker or the outbox. */
  sender: Process | null;
  /** Answers go to the process that has asked, requests to the one that runs when they arrive. */
  receiver: Process | null;
  /** The connection that the message takes, which can be cut. */
  link: string;
  body: Body;
}

interface Commit {
  disk: unknown;
  counted: CountedCall[];
  messages: Message[];
}

/** One life of an object, from its start to its end. Its `disk` is ahead of the real one by the commits under way. */
export interface Process<D = unknown, M = unknown> {
  name: NodeName;
  disk: D;
  memory: M;
  commits: Commit[];
  /** Another process has taken its place. It goes on until it tries to write. */
  isReplaced: boolean;
  isOver: boolean;
}

/** What a process does in one turn without an await. */
export const openTurn = (
  process: Process,
  nowMs: number,
  deliver: (message: Message) => void,
  sendsAfterCommit: boolean,
) => {
  let commit: Commit | null = null;
  const send = (message: Message) => {
    const last = process.commits.at(-1);
    if (last && sendsAfterCommit) last.messages.push(message);
    else deliver(message);
  };
  return {
    nowMs,
    write: (disk: unknown) => {
      process.disk = disk;
      if (commit) commit.disk = disk;
      else process.commits.push((commit = { disk, counted: [], messages: [] }));
    },
    count: (call: CountedCall) => commit?.counted.push(call),
    send: (to: Message['to'], body: Body, link: string) =>
      send({ from: process.name, to, sender: process, receiver: null, link, body }),
    reply: ({ from, sender, link }: Message, body: Body) =>
      send({ from: process.name, to: from, sender: process, receiver: sender, link, body }),
  };
};

export type Turn = ReturnType<typeof openTurn>;

/** Sends all events that wait to the outbox, which knows them by their ids. */
export const forwardEvents = (
  process: Process<{ events: string[] }>,
  turn: Turn,
  keepsUntilAccepted: boolean,
): void => {
  const { events } = process.disk;
  if (events.length === 0) return;
  turn.send('outbox', { kind: 'accept', events }, `${process.name}-outbox`);
  if (!keepsUntilAccepted) turn.write({ ...process.disk, events: [] });
};
