import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The address at which `npm run dev` serves the API. */
const SERVICE = process.env['LATCHKEY'] ?? 'http://localhost:8787';

/** What every page needs, and what the portal needs of it. */
const REACT = /\/node_modules\/(?:react|react-dom|scheduler)\//;
const LIBRARIES = /\/node_modules\/@tanstack\/[a-z-]+\//;

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
      // The last one is the layout of the guides. scripts/guides puts each page into it, and removes it.
      input: ['index.html', 'portal.html', 'guides.html'].map((file) => `${import.meta.dirname}/${file}`),
      // One file compresses better than a file for each set of pages that share a part of these.
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: REACT },
            { name: 'libraries', test: LIBRARIES },
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
