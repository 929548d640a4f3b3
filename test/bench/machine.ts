// What the figures were measured on.
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { workerdVersion } from './runtime.ts';

export const machine = () => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()}`,
  node: process.version,
  workerd: workerdVersion,
  date: new Date().toISOString(),
});

export const machineLine = ({
  cpu,
  cores,
  memoryGiB,
  system,
  node,
  workerd,
  date,
}: ReturnType<typeof machine>) =>
  `${cpu}, ${cores} cores, ${memoryGiB} GiB; ${system}; node ${node}, workerd ${workerd}; ${date}`;
