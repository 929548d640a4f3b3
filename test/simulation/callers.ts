import type { Region } from '../../src/shared/rules/regions.ts';
import type { CallName, Verdict } from '../../src/shared/rules/verdict.ts';
import { LICENSES, presentKey } from './account.ts';
import type { Answer, Asked } from './promises/asked.ts';
import type { Promises } from './promises/promises.ts';
import { KNOWN, textOf } from './promises/versions.ts';
import type { Isolate, World } from './world.ts';

export interface Ask {
  region: Region;
  call?: CallName;
  license?: number;
  /** A call of a machine. Without one, a verify has nothing but the license key. */
  machine?: string | null;
  key?: number;
  /** How many keys ago the license key was the license's. */
  keysAgo?: number;
}

/** The applications: they call the Worker of their region, as its routes do. */
export const openCallers = (world: World, promises: Promises) => {
  let count = 0;
  /** The license keys that each license has had, the present one last. */
  const licenseKeys: string[][] = LICENSES.map((licenseKey) => [licenseKey]);
  for (const licenseKey of LICENSES) promises.versions.tells(textOf(licenseKey), KNOWN);
  /** The last activation of each machine, by license and machine. */
  const activationIds = new Map<string, string>();

  const send = async ({ shipped, env }: Isolate, asked: Asked): Promise<Answer> => {
    const { name, region, call, licenseKey, machine } = asked;
    const key = presentKey(asked.key, name);
    const held = shipped.recallKeyRefusal(key);
    if (held) return held;
    const input = { license_key: licenseKey, ...(machine !== null && { fingerprint: machine }) };
    const isPlain = call === 'verify' && machine === null;
    return shipped.callGate(env, key, { name: call, input, isPlain, canSign: true }, region);
  };

  return {
    licenseKeys,
    activationIds,

    /** Makes a call. Resolves with its answer, or with null if it fails. */
    ask: async (ask: Ask): Promise<Answer | null> => {
      const { region, call = 'verify', license = 0, machine = null, key = 0, keysAgo = 0 } = ask;
      const name = `call-${++count}`;
      const licenseKey = licenseKeys[license]?.at(-1 - keysAgo) ?? '';
      const begunMs = world.time.nowMs();
      const seen = promises.versions.seen();
      const asked: Asked = { name, region, call, key, license, licenseKey, machine, begunMs, seen };
      promises.began(asked);
      const isolate = world.isolateIn(region);
      world.log(() => `${name}: ${call} of ${licenseKey} by ${machine} in ${region}`);
      const answer = await world.attempt(name, isolate, () => send(isolate, asked));
      if (!answer) return null;
      promises.answered(asked, answer);
      const { activation } = (answer.refused === null ? answer.verdict : {}) as Partial<Verdict>;
      if (activation) activationIds.set(`${license} ${machine}`, activation.id);
      return answer;
    },
  };
};

export type Callers = ReturnType<typeof openCallers>;
