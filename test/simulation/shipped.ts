// What the simulation runs: the code that ships, bundled by `machine/load.ts` and started once for each process.

export { callGate } from '../../src/activations/call.ts';
export { recallKeyRefusal } from '../../src/api-keys/refusals.ts';
export { databaseOf } from '../../src/db/client.ts';
export { GateBranch } from '../../src/gate/branch/gate-branch.ts';
export { AccountGate } from '../../src/gate/home/account-gate.ts';
export { eventChange } from '../../src/gate/feed/write.ts';
export { commit } from '../../src/gate/worker/commit.ts';
export { newEvent } from '../../src/shared/text/events.ts';
export { askGate, gateOf } from '../../src/shared/objects/address.ts';
