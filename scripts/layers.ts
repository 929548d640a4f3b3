// The layers of src/, from top to bottom. A file imports its own layer and the layers below it, also for types.
// `npm run check` compares every import with this list, and refuses circles between the files and folders of a layer.

export interface Layer {
  /** A file or folder of src/. `*` stands for any name. A file belongs to the first layer that names it. */
  files: string;
  /** The layers, folders, or files that it imports, if those aren't all below. */
  only?: string[];
  /** Those that it imports only types of, wherever they are in the list. */
  types?: string[];
  /** Its files don't import one another. */
  isApart?: true;
}

/** The dashboard and the guides, of which the Worker knows nothing. */
const WEB: Layer[] = [
  { files: 'web/vite.config.ts', only: [] },
  ...[
    'main.tsx',
    'router.tsx',
    'signed-out.tsx',
    'shell',
    'pages',
    'portal',
    'search.ts',
    'ui',
    'data',
    'lib',
    'guides',
  ].map((name) => ({
    files: `web/${name}`,
    only: ['web', 'shared/rules'],
    types: ['app.ts'],
  })),
];

/** The client package: four entries, and what they are made of. */
const CLIENT: Layer[] = [
  { files: 'client/cli.ts', only: ['client/cli'] },
  { files: 'client/cli', only: ['client/api', 'client/node', 'client/core', 'shared/rules'] },
  { files: 'client/api.ts', only: ['client/api'] },
  { files: 'client/api', only: [] },
  { files: 'client/node.ts', only: ['client/node', 'client/core'] },
  { files: 'client/node', only: ['client/core'] },
  { files: 'client/index.ts', only: ['client/core'] },
  { files: 'client/core', only: [], types: ['shared/rules'] },
];

/**
 * Durable Objects. Home and branch know each other only by their messages. Home carries out its account's erasures, whose `commit`
 * in `gate/worker` calls home itself.
 */
const OBJECTS: Layer[] = [
  {
    files: 'gate/home',
    only: ['gate/moving', 'gate/object', 'gate/feed', 'gate/rules', 'databases', 'erasure', 'db', 'shared'],
  },
  { files: 'gate/branch', only: ['gate/object', 'gate/rules', 'db', 'shared'] },
  { files: 'gate/moving', only: ['gate/feed', 'gate/rules', 'db', 'shared'] },
  { files: 'gate/object', only: ['gate/rules', 'db', 'shared'] },
];

/** Schemas and operations by subject. None of them knows HTTP. */
export const FEATURES = [
  'system',
  'backups',
  'operators',
  'dashboard',
  'transfer',
  'databases',
  'erasure',
  'billing',
  'self-service',
  'stores',
  'purchases',
  'webhooks',
  'portal',
  'activations',
  'tokens',
  'customers',
  'licenses',
  'products',
  'api-keys',
  'credentials',
  'sign-in',
  'two-factor',
  'sessions',
  'accounts',
  'mail',
  'users',
  'regions',
  'audit',
];

export const LAYERS: Layer[] = [
  ...WEB,
  ...CLIENT,
  { files: 'index.ts' },
  { files: 'app.ts' },
  { files: '*/routes.ts', isApart: true },
  { files: 'auth', only: ['http', 'portal', 'sessions', 'api-keys', 'users', 'gate/rules', 'db', 'shared'] },
  { files: 'http', only: ['db', 'shared'] },
  ...OBJECTS,
  ...FEATURES.map((files) => ({ files })),
  { files: 'gate/worker', types: ['gate/home/account-gate.ts', 'gate/branch/gate-branch.ts'] },
  { files: 'gate/feed', only: ['gate/rules', 'db', 'shared'] },
  { files: 'gate/rules', only: ['shared/rules'] },
  { files: 'db' },
  { files: 'shared/objects' },
  { files: 'shared/schemas' },
  { files: 'shared/config' },
  { files: 'shared/text' },
  { files: 'shared/crypto' },
  { files: 'shared/memory' },
  { files: 'shared/app-error.ts' },
  { files: 'shared/rules' },
];

const DASHBOARD_PACKAGES = [
  'react',
  'react-dom',
  '@base-ui/react',
  '@tanstack/react-query',
  '@tanstack/react-router',
  'lucide-react',
  'uplot',
  'uqr',
];

/** Packages, and the layers that import them. `node:` and `cloudflare:` stand for all of their modules. */
export const PACKAGES: Record<string, string[]> = {
  ...Object.fromEntries(DASHBOARD_PACKAGES.map((name) => [name, ['web']])),
  vite: ['web/vite.config.ts'],
  '@vitejs/plugin-react': ['web/vite.config.ts'],
  '@tailwindcss/vite': ['web/vite.config.ts'],
  'openapi-fetch': ['client/api'],
  picocolors: ['client/cli'],
  'fast-string-width': ['client/cli'],
  hono: ['app.ts', '*/routes.ts', 'auth', 'http', 'web/data'],
  zod: ['*/routes.ts', ...FEATURES, 'http', 'shared/schemas'],
  'drizzle-orm': [...FEATURES, 'gate/moving', 'gate/worker', 'gate/feed', 'db'],
  stripe: ['billing'],
  otpauth: ['two-factor'],
  'cloudflare:': ['gate/home', 'gate/branch', 'webhooks', 'shared/objects'],
  'node:': ['client/cli', 'client/node', ...FEATURES, 'shared/crypto', 'shared/schemas'],
};

/** Imports that still break the order. One that is no longer needed fails the check, too. */
export const EXCEPTIONS: [file: string, target: string][] = [];
