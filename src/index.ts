import { app } from './app.ts';

export { AccountGate } from './gate/account-gate.ts';

export default { fetch: app.fetch } satisfies ExportedHandler<Env>;
