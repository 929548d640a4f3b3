import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Time } from './time.ts';

interface Write {
  query: string;
  bindings: SQLInputValue[];
}

export interface Image {
  bytes: Uint8Array;
  alarmMs: number | null;
}

interface Parts {
  time: Time;
  /** How long the platform takes to confirm a commit. */
  commitMs: () => number;
  onConfirmed: () => void;
}

export const isRead = (query: string) => /^\s*(SELECT|PRAGMA|EXPLAIN)\b/i.test(query);
const isScript = (query: string) => /;\s*\S/.test(query);
/** Stands for a new alarm among the writes. */
const NOTHING: Write = { query: 'SELECT 1', bindings: [] };

/**
 * The disk of an object: a database and an alarm. The writes of a turn are one commit, which is confirmed a little later, and
 * a crash loses what wasn't. Therefore all writes are part of a long transaction, which ends whenever everything is confirmed.
 * A crash rolls it back, and repeats the confirmed ones.
 */
export const openDisk = ({ time, commitMs, onConfirmed }: Parts, image: Image | null = null) => {
  const db = new DatabaseSync(':memory:');
  if (image) db.deserialize(image.bytes);
  else db.exec('CREATE TABLE _cf_KV (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID');
  db.exec('BEGIN');
  const statements = new Map<string, StatementSync>();
  /** The writes of the transaction. Writes have numbers, and `before` is that of the last one before the transaction. */
  let log: Write[] = [];
  let before = 0;
  /** The last write that is on its way, and the last one that has arrived. */
  let sent = 0;
  let confirmed = 0;
  let lastConfirmMs = 0;
  let waiting: { through: number; resolve: () => void }[] = [];
  let alarmMs = image?.alarmMs ?? null;
  let newAlarms: { through: number; atMs: number | null }[] = [];
  /** Whether the confirmed alarm is running. It ends with it, and goes off again after a crash. */
  let isAlarmRunning = false;
  let crashes = 0;
  let onFenced: (() => void) | null = null;

  const written = () => before + log.length;
  const dueAlarmMs = () => (isAlarmRunning ? null : alarmMs);

  const setAlarm = (atMs: number | null) => {
    log.push(NOTHING);
    newAlarms.push({ through: written(), atMs });
  };

  const run = ({ query, bindings }: Write) => {
    if (isScript(query)) {
      db.exec(query);
      return { columns: [], rows: [] };
    }
    let statement = statements.get(query);
    if (!statement) {
      statement = db.prepare(query);
      statement.setReturnArrays(true);
      statements.set(query, statement);
    }
    const rows = statement.all(...bindings) as unknown as SqlStorageValue[][];
    return { columns: statement.columns().map(({ name }) => name), rows };
  };

  const confirm = (through: number) => {
    if (onFenced) return onFenced();
    confirmed = through;
    if (confirmed === written()) {
      db.exec('COMMIT; BEGIN');
      [before, log] = [confirmed, []];
    }
    const isDone = (entry: { through: number }) => entry.through <= confirmed;
    const alarm = newAlarms.findLast(isDone);
    if (alarm) [alarmMs, isAlarmRunning] = [alarm.atMs, false];
    newAlarms = newAlarms.filter((entry) => !isDone(entry));
    onConfirmed();
    const done = waiting.filter(isDone);
    waiting = waiting.filter((entry) => !isDone(entry));
    for (const { resolve } of done) resolve();
  };

  const goBack = () => {
    db.exec('ROLLBACK; BEGIN');
    for (const write of log.slice(0, confirmed - before)) run(write);
    db.exec('COMMIT; BEGIN');
  };

  return {
    execute: (query: string, bindings: SQLInputValue[]) => {
      const result = run({ query, bindings });
      if (!isRead(query)) log.push({ query, bindings });
      return result;
    },

    transaction: <T>(work: () => T): T => {
      const { length } = log;
      db.exec('SAVEPOINT part');
      try {
        const result = work();
        db.exec('RELEASE part');
        return result;
      } catch (error) {
        db.exec('ROLLBACK TO part; RELEASE part');
        log.length = length;
        throw error;
      }
    },

    dueAlarmMs,
    alarmMs: () => (newAlarms.at(-1) ?? { atMs: dueAlarmMs() }).atMs,
    setAlarm,
    beginAlarm: () => {
      isAlarmRunning = true;
    },
    endAlarm: () => {
      if (isAlarmRunning && newAlarms.length === 0) setAlarm(null);
    },

    /** Resolves once everything is confirmed that has been written so far. Never resolves after a crash. */
    isWritten: (): Promise<void> => {
      const through = written();
      if (through === confirmed) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ through, resolve }));
    },

    /** Sends the writes of a turn on their way. */
    endTurn: () => {
      const through = written();
      if (through === sent) return;
      sent = through;
      lastConfirmMs = Math.max(lastConfirmMs, time.nowMs() + commitMs());
      const crashesBefore = crashes;
      time.after(lastConfirmMs - time.nowMs(), () => {
        if (crashes === crashesBefore) confirm(through);
      });
    },

    crash: () => {
      crashes++;
      isAlarmRunning = false;
      goBack();
      [before, log, sent, waiting, newAlarms] = [confirmed, [], confirmed, [], []];
    },

    /**
     * Returns what is confirmed, for a process that takes the place of the one that writes here. The latter goes on with what it
     * has, but nothing more is confirmed: `whenWriting` is called instead.
     */
    fence: (whenWriting: () => void): Image => {
      goBack();
      const bytes = db.serialize();
      for (const write of log.slice(confirmed - before)) run(write);
      onFenced = whenWriting;
      return { bytes, alarmMs };
    },
  };
};

export type Disk = ReturnType<typeof openDisk>;
