// The lines that a seller puts into an application, with the account's own keys.

/** Stands for the API key, as in the snippets of the API. */
const KEY_PLACEHOLDER = 'YOUR_API_KEY';

interface PublicKey {
  kty: string;
  crv: string;
  x: string;
  kid: string;
}

export interface ApplicationDetails {
  origin: string;
  account: string;
  keys: PublicKey[];
  licenseKey: string;
  product?: string | null | undefined;
  apiKey?: string | null | undefined;
}

const quote = (text: string) => `'${text.replace(/['\\]/g, String.raw`\$&`)}'`;

const keyLine = ({ kty, crv, x, kid }: PublicKey) =>
  `      { kty: '${kty}', crv: '${crv}', x: '${x}', kid: '${kid}' },`;

export const applicationSnippet = ({
  origin,
  account,
  keys,
  licenseKey,
  product,
  apiKey,
}: ApplicationDetails): string =>
  [
    `import { createLicense } from '@latchkey/client/node';`,
    ``,
    `const license = createLicense({`,
    `  baseUrl: '${origin}',`,
    `  apiKey: '${apiKey ?? KEY_PLACEHOLDER}',`,
    `  keys: {`,
    `    account: '${account}',`,
    `    keys: [`,
    ...keys.map(keyLine),
    `    ],`,
    `  },`,
    ...(product ? [`  product: ${quote(product)},`] : []),
    `  dir: '.license', // the user's folder for your application's settings`,
    `});`,
    ``,
    `await license.start(); // doesn't wait for a network once the license is activated`,
    `if (!license.state.valid) await license.activate('${licenseKey}');`,
    `console.log(license.state.valid, license.state.code);`,
    `await license.stop();`,
  ].join('\n');
