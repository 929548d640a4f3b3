import { useQuery } from '@tanstack/react-query';
import { accountQuery, keySetQuery } from '../../data/queries.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

// The lines that a seller puts into an application, with the account's own keys.

/** Stands for the API key, as in the snippets of the API. */
const KEY_PLACEHOLDER = 'YOUR_API_KEY';

interface PublicKey {
  kty: string;
  crv: string;
  x: string;
  kid: string;
}

interface ApplicationDetails {
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

const applicationSnippet = ({
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

/** The service has the package's file. It isn't on npm. */
const installLine = () =>
  `npm install ${location.origin}/client/latchkey-client-${import.meta.env.VITE_CLIENT_VERSION as string}.tgz`;

/** How to install the client package, and the lines that use it with the account's own keys. */
export const ApplicationCode = (details: Pick<ApplicationDetails, 'licenseKey' | 'product' | 'apiKey'>) => {
  const { data: account } = useQuery(accountQuery);
  const { data } = useQuery({ ...keySetQuery(account?.id ?? ''), enabled: account !== undefined });
  return (
    <>
      <Code text={installLine()} what="installation" />
      {account && data ? (
        <Code
          text={applicationSnippet({
            ...details,
            origin: location.origin,
            account: account.id,
            keys: data.keys,
          })}
          what="application snippet"
        />
      ) : (
        <Skeleton className="h-80" />
      )}
    </>
  );
};

/** Shows what a Node.js or Electron application needs for a license. */
export const InApplication = (details: Pick<ApplicationDetails, 'licenseKey' | 'product'>) => (
  <Card aria-label="In your application">
    <CardHeader
      title="In your application"
      hint="With your account’s public keys. The API key should have the scope verify, because it ships with the application."
    />
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 px-5 pb-5">
      <ApplicationCode {...details} />
    </div>
  </Card>
);
