import type { Audit } from './model-audit.ts';
import { type Body, type BranchName, type Call, LICENSES, type NodeName } from './model-types.ts';

/** After this long the Worker asks home itself, and after this long again it gives up. */
const WORKER_MS = 5_000;
export const CHANGE_RETRY_MS = 3_000;

interface Asked {
  call: Call;
  isDirect: boolean;
  untilMs: number;
}

/** The Worker in every region, with its calls and changes, and D1. */
export const openCallers = (audit: Audit, send: (to: NodeName, body: Body) => void) => {
  const versions = Array.from({ length: LICENSES }, () => 0);
  const asked = new Map<string, Asked>();
  const changes = new Map<string, { license: number; version: number; retryMs: number }>();
  let ids = 0;

  return {
    versions,
    hasChanges: () => changes.size > 0,

    verify: (region: BranchName, license: number, weight: number, isDirect: boolean, realMs: number) => {
      const id = `c${ids++}`;
      const call = { id, license, region, weight };
      asked.set(id, { call, isDirect, untilMs: realMs + WORKER_MS });
      audit.began(call);
      send(isDirect ? 'home' : region, { kind: 'verify', call });
      return id;
    },

    /** Commits a change to D1 and lets home copy it. */
    change: (license: number, realMs: number) => {
      const id = `ch${ids++}`;
      const version = (versions[license] ?? 0) + 1;
      versions[license] = version;
      changes.set(id, { license, version, retryMs: realMs + CHANGE_RETRY_MS });
      send('home', { kind: 'change', id });
    },

    receive: (body: Body) => {
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
    },

    retry: (realMs: number) => {
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
    },
  };
};
