import { type GuideEntry, guideWords } from '../../shared/rules/guide-words.ts';

const MOST_RESULTS = 12;

let loading: Promise<GuideEntry[]> | undefined;

const load = async (): Promise<GuideEntry[]> => {
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`The search answered ${response.status}.`);
  return (await response.json()) as GuideEntry[];
};

/** How well a section fits: each word has to begin one of its words, and counts more in its titles. */
const scoreOf = ({ p, t, w }: GuideEntry, words: string[]): number => {
  const [page, title, all] = [` ${guideWords(p).join(' ')}`, ` ${guideWords(t).join(' ')}`, ` ${w}`];
  let score = 0;
  for (const word of words) {
    const start = ` ${word}`;
    if (title.includes(start)) score += 10;
    else if (page.includes(start)) score += 4;
    else if (all.includes(start)) score += 1;
    else return 0;
  }
  return score;
};

const find = (entries: GuideEntry[], words: string[]): GuideEntry[] =>
  entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_RESULTS)
    .map(({ entry }) => entry);

const itemOf = ({ a, p, t }: GuideEntry): HTMLLIElement => {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const page = document.createElement('span');
  link.href = a;
  link.textContent = t;
  page.textContent = p;
  link.append(page);
  item.append(link);
  return item;
};

interface Parts {
  form: HTMLElement;
  input: HTMLInputElement;
  results: HTMLElement;
  status: HTMLElement;
}

const show = ({ results, status }: Parts, found: GuideEntry[], isAsked: boolean) => {
  results.replaceChildren(...found.map(itemOf));
  results.hidden = found.length === 0;
  const count = found.length === 1 ? '1 result' : `${found.length} results`;
  status.textContent = isAsked ? count : '';
  status.classList.toggle('nothing', isAsked && found.length === 0);
};

/** Moves the focus among the field and its results. */
const moveFocus = ({ input, results }: Parts, by: number) => {
  const places = [input, ...results.querySelectorAll('a')];
  const at = places.findIndex((place) => place === document.activeElement);
  places.at((at + by + places.length) % places.length)?.focus();
};

const onKey = (parts: Parts, event: KeyboardEvent) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    moveFocus(parts, event.key === 'ArrowDown' ? 1 : -1);
  } else if (event.key === 'Escape') {
    parts.input.focus();
    show(parts, [], false);
  } else if (event.key === 'Enter' && document.activeElement === parts.input) {
    parts.results.querySelector('a')?.click();
  }
};

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.matches('input, textarea');

/** `/`, and what opens the dashboard's search. */
const isShortcut = (event: KeyboardEvent) =>
  (event.key === '/' && !isTyping(event.target)) ||
  (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey));

export const startSearch = () => {
  const form = document.querySelector<HTMLElement>('search');
  const input = form?.querySelector('input');
  const results = form?.querySelector<HTMLElement>('#results');
  const status = form?.querySelector<HTMLElement>('[role="status"]');
  if (!form || !input || !results || !status) return;
  const parts = { form, input, results, status };

  const search = async () => {
    loading ??= load();
    const words = guideWords(input.value);
    const entries = await loading.catch(() => {
      loading = undefined;
      return [];
    });
    // The question may have changed meanwhile.
    if (guideWords(input.value).join() !== words.join()) return;
    show(parts, words.length > 0 ? find(entries, words) : [], words.length > 0);
  };

  form.hidden = false;
  input.addEventListener('input', () => void search());
  input.addEventListener('focus', () => void search());
  form.addEventListener('keydown', (event) => onKey(parts, event));
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !form.contains(relatedTarget)) show(parts, [], false);
  });
  addEventListener('keydown', (event) => {
    if (!isShortcut(event)) return;
    event.preventDefault();
    input.focus();
  });
};
