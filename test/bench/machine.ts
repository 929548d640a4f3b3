// Describes the machine of a run.
import { statfsSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir, totalmem, type } from 'node:os';
import { workerdVersion } from './runtime.ts';

/** The file system type of tmpfs on Linux. */
const TMPFS = 0x0102_1994;

export const machine = () => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()}`,
  data: statfsSync(tmpdir()).type === TMPFS ? 'in memory' : 'on disk',
  node: process.version,
  workerd: workerdVersion,
  date: new Date().toISOString(),
});

export const machineLine = ({
  cpu,
  cores,
  memoryGiB,
  system,
  data,
  node,
  workerd,
  date,
}: ReturnType<typeof machine>) =>
  `${cpu}, ${cores} cores, ${memoryGiB} GiB; ${system}; data ${data}; node ${node}, workerd ${workerd}; ${date}`;
