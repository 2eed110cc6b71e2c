import { useEffect } from 'react'
import { createStore } from 'zustand/vanilla'

export interface Command {
  readonly id: string
  readonly label: string
  /** What it is about: "Go to", "This blueprint". */
  readonly group: string
  /** More words that find it. */
  readonly words?: string
  readonly run: () => unknown
}

/** What the screens that are shown offer to the command palette. */
export const commands = createStore<{ readonly offered: readonly (readonly Command[])[] }>(() => ({
  offered: [],
}))

/** Offers commands while the component is shown. Keep the list between renders (`useMemo`), or it is offered again each time. */
export function useCommands(list: readonly Command[]): void {
  useEffect(() => {
    commands.setState(({ offered }) => ({ offered: [...offered, list] }))
    return () => commands.setState(({ offered }) => ({ offered: offered.filter((one) => one !== list) }))
  }, [list])
}
