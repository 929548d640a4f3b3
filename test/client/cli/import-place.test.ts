import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { answers, useImportService } from '../support/import-service.ts';
import { ON_FULL_DISK } from '../support/tool.ts';

const { service, write, run, runIn } = useImportService();

const LICENSE = '{"license_key":"KEY-000001"}\n';
const created = (lines: string[]) => answers(lines, () => ({ result: 'created' }));

describe.runIf(process.platform !== 'win32')('an import', () => {
  test('refuses what can’t be read several times, such as a pipe', async () => {
    service.answerPart = created;
    const piped = `printf '%s' '${LICENSE}' | "$@"`;
    const runs = [
      await runIn(piped, 'licenses', 'import', '/dev/stdin'),
      await run('licenses', 'import', '/dev/null'),
      await run('licenses', 'import', service.folder),
    ];
    expect(runs.map(({ status }) => status)).toEqual([2, 2, 2]);
    expect(runs[0]?.stderr).toBe(
      'Error: /dev/stdin is no regular file.\nSave the licenses to a file first, which is read several times.\n',
    );
    expect(service.parts).toEqual([]);
  });

  test('sends nothing if it can’t note beside the file how far it has come', async () => {
    const file = write('licenses.ndjson', LICENSE);
    service.answerPart = created;
    const { status, stderr } = await runIn(ON_FULL_DISK, 'licenses', 'import', file);
    expect([status, stderr]).toEqual([2, expect.stringContaining('.importing can’t be written: EFBIG')]);
    expect(service.parts).toEqual([]);
    expect((await runIn(ON_FULL_DISK, 'licenses', 'import', file, '--dry-run')).status).toBe(0);
    expect((await run('licenses', 'import', file)).status).toBe(0);
    expect(existsSync(`${file}.importing`)).toBe(false);
  });
});
