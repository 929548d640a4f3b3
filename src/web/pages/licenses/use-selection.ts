import { useRef, useState } from 'react';
import type { LicenseBody } from '../../data/queries.ts';

/** The selected licenses of a list. Another list, such as that of another filter, starts without a selection. */
export const useSelection = (licenses: LicenseBody[], list: string) => {
  const [state, setState] = useState({ list, ids: new Set<string>() });
  const last = useRef<string | null>(null);
  const ids = state.list === list ? state.ids : new Set<string>();

  const change = (changed: LicenseBody[], isSelected: boolean) => {
    const next = new Set(ids);
    for (const { id } of changed) {
      if (isSelected) next.add(id);
      else next.delete(id);
    }
    setState({ list, ids: next });
  };

  return {
    selected: licenses.filter(({ id }) => ids.has(id)),
    isSelected: (id: string) => ids.has(id),
    /** Selects a license, or all licenses from the one that was changed last to this one. */
    choose: (id: string, isSelected: boolean, isRange: boolean) => {
      const to = licenses.findIndex((license) => license.id === id);
      const from = isRange ? licenses.findIndex((license) => license.id === last.current) : -1;
      last.current = id;
      const [start, end] = from === -1 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
      change(licenses.slice(start, end + 1), isSelected);
    },
    chooseAll: (isSelected: boolean) => change(licenses, isSelected),
  };
};

export type Selection = ReturnType<typeof useSelection>;
