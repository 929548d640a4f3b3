import type { PinnedKeys } from '../../../src/client/core/types.ts';
// A process of an application, of which several run on one directory. It does what it is told, one message at a time.
import { createLicense } from '../../../src/client/node.ts';

/** What a process is told: to start and stop so many times, or to make a call. */
export interface Order {
  dir: string;
  baseUrl: string;
  keys: PinnedKeys;
  starts?: number;
  activate?: string;
  refresh?: boolean;
}

/** What it answers: the code after the last call, and when its verdict was signed. */
export interface Report {
  code: string;
  checkedAt: number;
}

const obey = async ({
  dir,
  baseUrl,
  keys,
  starts = 0,
  activate,
  refresh = false,
}: Order): Promise<Report> => {
  const open = () =>
    createLicense({
      baseUrl,
      apiKey: 'lk_test',
      keys,
      product: 'orrery',
      dir,
      fingerprint: 'machine-0123456789',
    });
  for (let count = 0; count < starts; count += 1) {
    const license = open();
    await license.start();
    await license.stop();
  }
  const license = open();
  if (activate !== undefined) await license.activate(activate);
  if (refresh) await license.refresh();
  const { code, checkedAt } = await license.stop();
  return { code, checkedAt: checkedAt?.getTime() ?? 0 };
};

process.on('message', (order: Order) => {
  void obey(order).then((report) => process.send?.(report));
});
