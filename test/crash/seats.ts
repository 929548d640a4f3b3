// Activates and deactivates machines on one license, through restarts of the service, and checks that its seats are exact.
import type { Service } from '../e2e/support/service.ts';
import { addKey, type CallCounts, countCall, type Customer, expectOk } from './customer.ts';

export const SEATS = 3;
/** The machines of each of the two loops, so that more machines than seats compete. */
const MACHINES = 3;

type Account = Pick<Customer, 'accountId' | 'session'>;

interface Verdict {
  valid: boolean;
  activation: { id: string } | null;
}

/** What the service acknowledged about a machine's seat. It is unknown after a call that got no response. */
type Seat = { id: string } | 'free' | 'unknown';

export interface SeatRecord {
  /** A key of its own, with a rate limit of its own. */
  apiKey: Customer['apiKey'];
  license: { id: string; license_key: string };
  seats: Map<string, Seat>;
  /** The ids of the acknowledged activations. */
  activated: Set<string>;
  /** What must not happen, such as a fourth machine on three seats. */
  errors: string[];
}

export const openSeatRecord = async (service: Service, account: Account): Promise<SeatRecord> => {
  const { apiKey, session } = await addKey(service, account);
  const input = { customer_email: 'grace@example.com', terms: { max_activations: SEATS } };
  const license = expectOk(
    await service.post('/api/v1/licenses/create', input, session),
  ) as SeatRecord['license'];
  return { apiKey, license, seats: new Map(), activated: new Set(), errors: [] };
};

const heldSeats = ({ seats }: SeatRecord) =>
  [...seats.values()].filter((seat): seat is { id: string } => typeof seat === 'object');

/** Returns one of two loops' next call: activates a machine without a seat, or deactivates a machine that has one. */
export const seatCall = (record: SeatRecord, counts: CallCounts, loop: number) => async (to: Service) => {
  const fingerprint = `machine-${loop}-${Math.floor(Math.random() * MACHINES)}`;
  const before = record.seats.get(fingerprint) ?? 'free';
  const name = typeof before === 'object' && Math.random() < 0.5 ? 'deactivate' : 'activate';
  const input = { license_key: record.license.license_key, fingerprint };
  if (name === 'deactivate' || before === 'free') record.seats.set(fingerprint, 'unknown');
  const call = () => to.post(`/api/v1/licenses/${name}`, input, record.apiKey);
  const { status, body } = await (name === 'activate' ? countCall(counts, call) : call());
  if (status !== 200) return;
  const { valid, activation } = body as Verdict;
  if (typeof before === 'object' && name === 'activate' && activation?.id !== before.id)
    record.errors.push(`${fingerprint} lost its seat`);
  record.seats.set(fingerprint, valid && activation ? { id: activation.id } : 'free');
  if (activation) record.activated.add(activation.id);
  if (heldSeats(record).length > SEATS) record.errors.push(`${fingerprint} got a seat that was taken`);
};

/** Compares the seats that the service lists with what it has acknowledged. */
export const checkSeats = async (service: Service, { session }: Account, record: SeatRecord) => {
  const { data } = expectOk(
    await service.get(`/api/v1/licenses/${record.license.id}/activations`, session),
  ) as { data: { id: string; fingerprint: string }[] };
  if (data.length > SEATS) record.errors.push(`${data.length} machines hold ${SEATS} seats`);
  const listed = new Map(data.map(({ fingerprint, id }) => [fingerprint, id]));
  for (const [fingerprint, seat] of record.seats) {
    const id = listed.get(fingerprint);
    if (typeof seat === 'object' && id !== seat.id) record.errors.push(`${fingerprint} lost its seat`);
    if (seat === 'free' && id !== undefined) record.errors.push(`${fingerprint} still holds its seat`);
  }
};
