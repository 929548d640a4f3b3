import { useRef, useState } from 'react';
import type { LicenseBody } from '../../data/queries.ts';

interface State {
  list: string;
  ids: Set<string>;
  /** All licenses of the list, including those that aren't shown, once they were read. */
  all: LicenseBody[] | null;
}

/**
 * The selected licenses of a list: those shown that were chosen, or all that match. Another list, such as that of another filter,
 * starts without a selection.
 */
export const useSelection = (licenses: LicenseBody[], list: string) => {
  const [state, setState] = useState<State>({ list, ids: new Set(), all: null });
  const last = useRef<string | null>(null);
  const { ids, all } = state.list === list ? state : { ids: new Set<string>(), all: null };

  const change = (changed: LicenseBody[], isSelected: boolean) => {
    const next = new Set(ids);
    for (const { id } of changed) {
      if (isSelected) next.add(id);
      else next.delete(id);
    }
    const known = new Map([...(all ?? []), ...changed].map((license) => [license.id, license]));
    setState({ list, ids: next, all: all && [...known.values()].filter(({ id }) => next.has(id)) });
  };

  return {
    selected: (all ?? licenses).filter(({ id }) => ids.has(id)),
    /** Whether licenses are selected that aren't shown. */
    isAll: all !== null,
    isSelected: (id: string) => ids.has(id),
    /** Selects a license, or all licenses from the one that was changed last to this one. */
    choose: (id: string, isSelected: boolean, isRange: boolean) => {
      const to = licenses.findIndex((license) => license.id === id);
      const from = isRange ? licenses.findIndex((license) => license.id === last.current) : -1;
      last.current = id;
      const [start, end] = from === -1 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
      change(licenses.slice(start, end + 1), isSelected);
    },
    chooseShown: (isSelected: boolean) => change(licenses, isSelected),
    /** Selects all licenses of the list, if it is still the same. */
    chooseAll: (matching: LicenseBody[]) =>
      setState({ list, ids: new Set(matching.map(({ id }) => id)), all: matching }),
    clear: () => setState({ list, ids: new Set(), all: null }),
    /** What was read of licenses that aren't shown is out of date once they are changed. */
    keepShown: () => setState({ list, ids, all: null }),
  };
};

export type Selection = ReturnType<typeof useSelection>;
