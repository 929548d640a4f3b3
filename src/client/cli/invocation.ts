/**
 * How people start the command. npx with nothing but its name would run whatever has this name in npm's registry, where the
 * package isn't installed: with the API key in its environment.
 */
const SCRIPT = 'npm run latchkey --';

/** npm says so if it has unpacked a file for this run. */
const isTarball = (spec: string | undefined): spec is string => /^[^\s'"]+\.tgz$/.test(spec ?? '');

/** Returns how to start another command, in the way that this one was. */
export const invocation = ({ npm_config_package: spec } = process.env): string =>
  isTarball(spec) ? `npx --yes --package ${spec} latchkey` : SCRIPT;

/** A command in a sentence, as it can be typed. */
export const typed = (words: string): string => `\`${invocation()} ${words}\``;

/** npm runs a script in the folder of its package.json. Files that are named on the command line are where the user is. */
export const enterOwnFolder = ({ npm_lifecycle_event, INIT_CWD } = process.env): void => {
  if (npm_lifecycle_event === 'latchkey' && INIT_CWD) process.chdir(INIT_CWD);
};
