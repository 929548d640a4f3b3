import { answer } from '../../../src/activations/answer.ts';
import { callInput, givenFields, isPlainCall } from '../../../src/activations/schemas.ts';
import { AppError } from '../../../src/shared/app-error.ts';
import { CALL_NAMES, type CallName } from '../../../src/shared/rules/verdict.ts';
import { type Proof, type SignedVerdict, toClaims } from '../../../src/tokens/claims.ts';
import { keySetOf, signToken } from '../../../src/tokens/jws.ts';
import { deriveKeys } from '../../../src/tokens/keys.ts';
import {
  ACCOUNT,
  API_KEY,
  copiedLicense,
  LICENSE_ID,
  LICENSE_KEY,
  ORIGIN,
  PRODUCT,
  PUBLISHED_RING,
  TERMS,
  type World,
} from '../world.ts';
import { openGate } from './gate.ts';
import { type Clock, errorOf, type Network, openNetwork } from './network.ts';
import { type Facts, openSeller, type SellerAct } from './seller.ts';

export type ServiceEvent = Network | SellerAct;

const invalid = (details: { path: string; message: string }[]) =>
  new AppError('invalid_request', { details });

const readInput = async (request: Request) => {
  const sent: unknown = await request.json().catch(() => {
    throw new AppError('invalid_json');
  });
  const { data, error } = callInput.safeParse(sent);
  if (data) return data;
  throw invalid(error.issues.map(({ path, message }) => ({ path: path.join('.'), message })));
};

/** A double of the service, as far as applications see it: the shipped judgment and signatures, at a time that a test sets. */
export const openService = (clock: Clock, { licenses = [{ license_key: LICENSE_KEY }], products = { [PRODUCT]: TERMS } }: World) => {
  const facts: Facts = { hasKey: true, ring: PUBLISHED_RING.slice(0, 1) };
  const gate = openGate();
  gate.apply({
    licenses: licenses.map((license, i) => copiedLicense(license, i === 0 ? LICENSE_ID : `${LICENSE_ID}${i}`)),
    products: Object.entries(products).map(([code, terms]) => ({ code, terms })),
  });
  let counted = 0;
  const calls: { at: string; call: CallName; code: string }[] = [];

  const sign = async (verdict: SignedVerdict, proof: Proof, nowMs: number): Promise<string> => {
    const [key] = await deriveKeys(facts.ring, ACCOUNT);
    if (!key) throw new Error('The ring is empty.');
    return signToken(key, toClaims(ORIGIN, ACCOUNT, verdict, proof, nowMs));
  };

  const answerCall = async (name: CallName, request: Request): Promise<Response> => {
    const apiKey = request.headers.get('x-api-key');
    if (apiKey === null) throw new AppError('api_key_required');
    if (apiKey !== API_KEY || !facts.hasKey) throw new AppError('api_key_invalid');
    const sent = await readInput(request);
    const { nonce, ...input } = givenFields(sent);
    const nowMs = clock.nowMs();
    const isPlain = name === 'verify' && nonce === undefined && isPlainCall(input);
    const before = gate.usageAt(nowMs).apiUsage;
    const reply = gate.call({ name, input, isPlain }, nowMs);
    counted += gate.usageAt(nowMs).apiUsage - before;
    const note = (code: string) => calls.push({ at: new Date(nowMs).toISOString(), call: name, code });
    if (reply.refused !== null) {
      note(reply.refused);
      const after = 'retryAfterSeconds' in reply ? reply.retryAfterSeconds : undefined;
      return errorOf(new AppError(reply.refused), after);
    }
    const { verdict, apiUsage: api_usage, apiLimit: api_limit } = reply;
    note('code' in verdict ? verdict.code : verdict.status);
    if (!('code' in verdict)) return Response.json({ ...verdict, api_usage, api_limit });
    return Response.json(await answer(sign, name, sent, verdict, { api_usage, api_limit }, nowMs));
  };

  const route = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const call = CALL_NAMES.find((name) => pathname === `/api/v1/licenses/${name}`);
    if (call && request.method === 'POST') return answerCall(call, request);
    if (pathname === `/api/v1/jwks/${ACCOUNT}`)
      return Response.json(await keySetOf(ACCOUNT, await deriveKeys(facts.ring, ACCOUNT)));
    throw new AppError(call ? 'method_not_allowed' : 'not_found');
  };

  const serve = (request: Request): Promise<Response> =>
    route(request).catch((error: unknown) => {
      if (error instanceof AppError) return errorOf(error);
      throw error;
    });

  const network = openNetwork(clock, serve);
  const signFile: Parameters<typeof openSeller>[3] = ({ verdict, issuedAtMs }, fingerprint) =>
    sign(verdict, { kind: 'offline', nonce: null, fingerprint }, issuedAtMs);
  const act = openSeller(gate, facts, clock.nowMs, signFile, licenses[0]?.license_key ?? LICENSE_KEY);

  return {
    deliver: network.deliver,

    /** Lets something happen to the network or at the seller. */
    apply: async (event: ServiceEvent): Promise<{ file?: string }> => {
      if ('seller' in event) return act(event);
      network.set(event);
      return {};
    },

    /** What a test may look at. */
    report: () => ({
      now: new Date(clock.nowMs()).toISOString(),
      /** The calls of applications that arrived, whether they were answered or not. */
      calls,
      /** How many of them counted as usage. */
      counted,
      seats: Object.fromEntries(
        licenses.flatMap(({ license_key: key }) => {
          const license = gate.find(key);
          return license ? [[key, gate.seatsUsed(license, clock.nowMs())]] : [];
        }),
      ),
    }),
  };
};

