// The window: asks the main process and shows what it says. It has no keys, no token, and no license logic.

// In Electron, the preload script exposes these two with contextBridge, over ipcRenderer.
const invoke = async (channel, ...args) => {
  const response = await fetch(`invoke/${channel}`, { method: 'POST', body: JSON.stringify(args) });
  return response.json();
};
const listen = (channel, listener) =>
  new EventSource('events').addEventListener(channel, ({ data }) => listener(JSON.parse(data)));

const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const form = document.forms[0];
/** Null stands for the license key that was used last. */
const key = () => new FormData(form).get('key') || null;

/** Makes a call and shows the state that it returns. */
const onClick = (button, call) => button.addEventListener('click', () => void call().then(show));

const machineItem = ({ id, name }) => {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.textContent = 'Use here instead';
  onClick(button, () => invoke('license:activate', key(), id));
  item.append(`${name ?? 'Unnamed'} `, button);
  return item;
};

const show = ({ valid, code, machine, canExport, machines }) => {
  if (code === 'loading') return;
  // Elsewhere, the system has an id, and a new installation finds its seat again.
  const hint = machine === 'stored' ? ' Deactivate before you remove the settings.' : '';
  element('status').textContent = valid ? `Licensed.${hint}` : `Not licensed (${code}).`;
  form.hidden = valid;
  element('licensed').hidden = !valid;
  element('export').hidden = !canExport;
  element('machines').replaceChildren(...(machines ?? []).map(machineItem));
};

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void invoke('license:activate', key()).then(show);
});
onClick(element('deactivate'), () => invoke('license:deactivate'));
const printExport = async () => {
  element('output').textContent = (await invoke('export')) ?? 'Your license does not include exports.';
};
element('export').addEventListener('click', () => void printExport());

listen('license:changed', show);
void invoke('license:state').then(show);
