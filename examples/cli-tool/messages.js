const MESSAGES = {
  key_missing: 'No license yet. Run: orrery activate LICENSE_KEY',
  not_found: 'This license key is unknown. Check it for typos.',
  revoked: 'This license was revoked.',
  suspended: 'This license is suspended.',
  expired: 'This license has expired.',
  wrong_product: 'This license is for another product.',
  updates_ended: 'This license does not cover version 1.4.0.',
  not_activated: 'This machine is not activated. Run: orrery activate LICENSE_KEY',
  transfer_limit: 'Too many machines have used this license in the last 30 days.',
  deactivated: 'This machine no longer uses the license.',
  inconclusive: 'The license could not be checked. Try again when you are online.',
  offline_expired: 'The license has not been checked for too long. Go online once.',
  clock_rolled_back: 'The clock of this machine is behind. Set it, or go online once.',
};

const noSeat = ({ machines, seats }) =>
  [
    `All ${seats.limit} seats are taken.`,
    ...(machines ?? []).map(({ id, name }) => `  ${id}  ${name ?? 'unnamed'}`),
    machines && 'To take over a seat, run: orrery activate LICENSE_KEY --replace ID',
  ]
    .filter(Boolean)
    .join('\n');

/** Which machine is licensed. */
const MACHINES = {
  system: 'This machine is known by the id of its system.',
  stored: 'This machine has no id of its own: keep the folder of the license.',
  given: 'This machine is known by ORRERY_MACHINE_ID.',
};

/** What the user should know or do. */
export const explain = (state) => {
  if (state.code === 'no_seat') return noSeat(state);
  if (!state.valid) return MESSAGES[state.code] ?? `The license is not valid (${state.code}).`;
  const until = state.offlineUntil?.toISOString().slice(0, 10);
  return [
    until ? `Licensed. Works without a network until ${until}.` : 'Licensed.',
    MACHINES[state.machine],
  ].join(' ');
};
