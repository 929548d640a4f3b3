// Builds the Worker's static assets unless they are up to date. Wrangler runs it before it bundles the Worker.
import { GUIDE_SOURCES } from './guides/pages.ts';
import { buildIfChanged } from './up-to-date.ts';

await buildIfChanged({
  to: 'dist/assets',
  sources: ['src', 'scripts', 'releases', 'package.json', 'LICENSE', ...GUIDE_SOURCES],
  build: async () => {
    const [{ buildAssets }, { packClient }, { addClient }] = await Promise.all([
      import('./assets.ts'),
      import('./client-package.ts'),
      import('./client-assets.ts'),
    ]);
    const [tarball] = await Promise.all([packClient(), buildAssets()]);
    await addClient(tarball);
  },
});
