import { beforeEach, describe, expect, test } from 'vitest';
import { answers, useImportService } from '../support/import-service.ts';

const { service, write, run, sentLines } = useImportService();

describe('licenses import of products that another service names', () => {
  const sales = (...names: string[]) =>
    write(
      'sales.csv',
      `License Key,Item Name\n${names.map((name, i) => `KEY-00000${i},${name}`).join('\n')}\n`,
    );
  const sentProducts = () => sentLines().map(({ product }) => product);

  beforeEach(() => {
    service.products = [
      { code: 'orrery-pro', name: 'Orrery Pro' },
      { code: 'sx-2', name: 'Sextant' },
    ];
    service.answerPart = (lines) => answers(lines, () => ({ result: 'created' }));
  });

  test('maps names to codes, and warns of unknown ones before it sends', async () => {
    const file = sales('Orrery PRO', 'Sextant', 'Sextan', 'Sextan', 'orrery-pro');
    const { stderr } = await run('licenses', 'import', file, '--from', 'gumroad');
    expect(sentProducts()).toEqual(['orrery-pro', 'sx-2', 'Sextan', 'Sextan', 'orrery-pro']);
    expect(stderr).toContain('The product Orrery PRO is imported as orrery-pro.');
    expect(stderr).toContain('2 lines name the product Sextan, which doesn’t exist. Did you mean "sx-2"?');
    expect(stderr).toContain('--map-product=NAME=CODE');
    expect([service.productReads, service.parts.length]).toEqual([1, 1]);
  });

  test('takes codes from --map-product, and labels with --allow-unknown-product', async () => {
    const file = sales('4711', 'Old=News');
    const from = ['licenses', 'import', file, '--from', 'gumroad', '--map-product', '4711=sx-2', '--json'];
    const { stderr } = await run(...from, '--allow-unknown-product');
    expect(sentProducts()).toEqual(['sx-2', 'Old=News']);
    expect(service.paths[0]).toContain('allow_unknown_product=true');
    expect(stderr).not.toContain('Old=News');
    service.parts = [];
    await run(...from, '--map-product', 'Old=News=orrery-pro');
    expect(sentProducts()).toEqual(['sx-2', 'orrery-pro']);
    expect((await run('licenses', 'import', file, '--map-product', 'nothing')).stderr).toContain(
      '--map-product must be NAME=CODE',
    );
  });

  test('leaves a file of its own format as it is, and an account without products alone', async () => {
    const rows = [
      { type: 'product', code: 'made-here' },
      { license_key: 'KEY-000001', product: 'Sextant' },
      { license_key: 'KEY-000002', product: 'made-here' },
      { type: 'license', id: 'lic_1', license_key: 'KEY-000003', product: 'Old label' },
    ];
    const file = write('own.ndjson', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const { stderr } = await run('licenses', 'import', file, '--json');
    expect(sentProducts()).toEqual([undefined, 'Sextant', 'made-here', 'Old label']);
    expect(stderr).toContain('1 line names the product Sextant, which doesn’t exist. Did you mean "sx-2"?');
    expect(stderr).not.toMatch(/made-here|Old label/);
    service.products = [];
    const empty = await run('licenses', 'import', sales('Any label'), '--from', 'gumroad', '--json');
    expect([empty.status, empty.stderr]).toEqual([0, expect.not.stringContaining('Any label')]);
  });

  test('gives the product of --product to the licenses of an export, and to none of its other lines', async () => {
    const others = [
      { type: 'product', code: 'made-here' },
      { type: 'activation', license_key: 'KEY-000001', fingerprint: 'machine-1' },
      { type: 'webhook', url: 'https://hooks.example.com' },
    ];
    const licenses = [
      { type: 'license', id: 'lic_1', license_key: 'KEY-000001', product: 'made-here' },
      { license_key: 'KEY-000002' },
    ];
    const rows = [...licenses, ...others];
    const file = write('own.ndjson', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    await run('licenses', 'import', file, '--product', 'sx-2');
    expect(sentLines()).toEqual([...licenses.map((row) => ({ ...row, product: 'sx-2' })), ...others]);
  });
});
