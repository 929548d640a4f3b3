import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Rolldown } from 'vite';

/** The address at which `npm run dev` serves the API. */
const SERVICE = process.env['LATCHKEY'] ?? 'http://localhost:8787';

/** What every page needs, and what the portal needs of it. */
const REACT = /\/node_modules\/(?:react|react-dom|scheduler)\//;
const LIBRARIES = /\/node_modules\/@tanstack\/[a-z-]+\//;

type Modules = Pick<Rolldown.ChunkingContext, 'getModuleInfo'>;

/** Returns the modules that a page's script imports, which the browser loads with it. */
const loadedBy = (modules: Modules, entry: string): Set<string> => {
  const loaded = new Set([`${import.meta.dirname}/${entry}`]);
  for (const id of loaded) modules.getModuleInfo(id)?.importedIds.forEach((each) => loaded.add(each));
  return loaded;
};

/**
 * The file of what the dashboard loads first, or of what the portal loads too. By default, there is a file for each set of
 * pages that share a part: opening the first page took 70 requests.
 */
const sharedFile = (id: string, modules: Modules): string | null => {
  if (id.startsWith(`${import.meta.dirname}/portal/`)) return null;
  if (loadedBy(modules, 'portal/main.tsx').has(id)) return 'base';
  return loadedBy(modules, 'main.tsx').has(id) ? 'shell' : null;
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../../dist/assets',
    emptyOutDir: true,
    // The Content-Security-Policy doesn't allow fonts from data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      // On a busy machine, Rolldown would advise whoever starts the service how to make this build faster.
      checks: { bundlerTimings: false },
      // The last one is the layout of the guides. scripts/guides puts each page into it, and removes it.
      input: ['index.html', 'portal.html', 'guides.html'].map((file) => `${import.meta.dirname}/${file}`),
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: REACT },
            { name: 'libraries', test: LIBRARIES },
            { name: sharedFile, debugName: 'base or shell' },
            // What is left, and is of several pages.
            { name: 'parts', minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/portal-api', '/health', '/openapi.json', '/docs', '/llms.txt', '/checkout'].map((path) => [
        path,
        { target: SERVICE, changeOrigin: true, headers: { origin: SERVICE } },
      ]),
    ),
  },
});
