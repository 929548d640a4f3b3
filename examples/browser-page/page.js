import { license } from './license.js';

const PLANETS = ['Mercury', 'Venus', 'Earth', 'Mars', 'Jupiter', 'Saturn', 'Uranus', 'Neptune'];

const MESSAGES = {
  key_missing: 'Enter your license key.',
  not_found: 'This license key is unknown.',
  no_seat: 'All seats are taken. Which browser should give its seat to this one?',
  inconclusive: 'Your license could not be checked. Try again when you are online.',
  offline_expired: 'Your license has not been checked for too long. Go online once.',
  clock_rolled_back: 'The clock of this machine is behind. Set it, or go online once.',
};

const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const form = document.forms[0];
/** Undefined stands for the license key that was used last. */
const key = () => /** @type {HTMLInputElement} */ (form.elements.namedItem('key')).value || undefined;

/** Makes a call and shows the state that it returns. */
const onClick = (button, call) => button.addEventListener('click', () => void call().then(show));

const machineItem = ({ id, name }) => {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.textContent = 'Use here instead';
  onClick(button, () => license.activate(key(), { name: 'Browser', replace: id }));
  item.append(`${name ?? 'Unnamed'} `, button);
  return item;
};

const show = ({ valid, code, machines }) => {
  element('status').textContent = valid ? 'Licensed.' : (MESSAGES[code] ?? `Not licensed (${code}).`);
  form.hidden = valid;
  element('licensed').hidden = !valid;
  element('machines').replaceChildren(...(machines ?? []).map(machineItem));
  element('export').hidden = !license.has('export');
};

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void license.activate(key(), { name: 'Browser' }).then(show);
});
onClick(element('deactivate'), () => license.deactivate());
element('export').addEventListener('click', () => {
  element('output').textContent = license.has('export') ? PLANETS.join('\n') : '';
});

license.onChange(show);
show(await license.start());
