import { activationCommands } from './commands/activations.ts';
import { doctor } from './commands/doctor.ts';
import { exportLicenses } from './commands/export.ts';
import { importLicenses } from './commands/import.ts';
import { pullKeys } from './commands/keys.ts';
import { licenseCommands } from './commands/licenses.ts';
import { login } from './commands/login.ts';
import { operatorCommands } from './commands/operator.ts';
import { productCommands } from './commands/products.ts';
import { inspectToken } from './commands/token.ts';
import { verify } from './commands/verify.ts';
import { listenForWebhooks } from './commands/webhooks.ts';

/** In the order of the help. */
export const COMMANDS = [
  login,
  pullKeys,
  verify,
  inspectToken,
  ...licenseCommands,
  importLicenses,
  exportLicenses,
  ...activationCommands,
  ...productCommands,
  listenForWebhooks,
  doctor,
  ...operatorCommands,
];
