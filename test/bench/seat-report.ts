// The rows of the result table about seats and heartbeats.
import { costOf } from './prices.ts';
import { ratioOf } from './rounds.ts';
import { atMost, ms, p50, type Row } from './rows.ts';
import type { HeartbeatFigures, Heartbeats, SeatFigures } from './seat-stage.ts';

export interface SeatRatios {
  verify_fingerprint_p50: number;
  activate_p50: number;
  heartbeat_p50: number;
  verify_10000_seats_p50: number;
  activate_10000_seats_p50: number;
}

export const seatRatios = (seats: SeatFigures): SeatRatios => ({
  verify_fingerprint_p50: ratioOf(seats['verify, fingerprint'], seats['verify']),
  activate_p50: ratioOf(seats['activate'], seats['verify']),
  heartbeat_p50: ratioOf(seats['heartbeat'], seats['verify']),
  verify_10000_seats_p50: ratioOf(seats['verify, 10,000 seats'], seats['verify, fingerprint']),
  activate_10000_seats_p50: ratioOf(seats['activate, 10,000 seats'], seats['activate']),
});

export const seatRows = (seats: SeatFigures, ratios: SeatRatios): Row[] => {
  const against = (name: string, other: string) => `${ms(p50(seats, name))} against ${ms(p50(seats, other))}`;
  const compared = (name: string, ratio: number): Row => [
    `${name}, p50, against verify`,
    against(name, 'verify'),
    ratio.toFixed(2),
    '',
    '',
  ];
  return [
    atMost(
      'verify with a fingerprint, p50, against verify',
      against('verify, fingerprint', 'verify'),
      ratios.verify_fingerprint_p50,
      1.12,
    ),
    compared('activate', ratios.activate_p50),
    compared('heartbeat', ratios.heartbeat_p50),
    atMost(
      'verify, p50, a license with 10,000 seats against one with 10',
      against('verify, 10,000 seats', 'verify, fingerprint'),
      ratios.verify_10000_seats_p50,
      1.1,
    ),
    atMost(
      'activate, p50, a license with 10,000 seats against one with 10',
      against('activate, 10,000 seats', 'activate'),
      ratios.activate_10000_seats_p50,
      1.1,
    ),
  ];
};

/** Returns what a million heartbeats cost. Uses the CPU time of the whole runtime, as for verify. */
export const heartbeatCosts = ({ renewing, repeated }: HeartbeatFigures, seats: SeatFigures) => {
  const cpuMs = seats['heartbeat']?.cpuMsPerCall ?? Number.NaN;
  const cost = ({ gateRows, rowsRead, callsPerSecond }: Heartbeats) =>
    costOf({
      objectRequests: 1,
      gateRows,
      outboxRows: 0,
      rowsRead,
      queueMessages: 0,
      cpuMs,
      objectSeconds: 1 / callsPerSecond,
    });
  return { renewing: cost(renewing), repeated: cost(repeated) };
};

const rowsOf = ({ gateRows, rowsRead }: Heartbeats) => `${gateRows.toFixed(2)} and ${rowsRead.toFixed(2)}`;

export const heartbeatRows = (heartbeats: HeartbeatFigures, seats: SeatFigures): Row[] => {
  const { renewing, repeated } = heartbeats;
  const cost = heartbeatCosts(heartbeats, seats);
  return [
    [
      'rows that a heartbeat writes and reads in the gate (renews its lease; follows at once)',
      `${rowsOf(renewing)}; ${rowsOf(repeated)}`,
      '',
      '',
      '',
    ],
    [
      'a million heartbeats (renew their lease; follow at once)',
      `$${cost.renewing.total.toFixed(2)}; $${cost.repeated.total.toFixed(2)}`,
      '',
      '',
      '',
    ],
  ];
};
