import type { Ask } from '../requests.ts'

/** What is compared. */
export type Work = 'constant' | 'read' | 'list' | 'create'

/** A running product with endpoints that do the same. */
export interface Peer {
  readonly name: string
  readonly pid: number
  readonly port: number
  /** Requests for what it can do; the others are left out. */
  readonly asks: Partial<Record<Work, () => () => Ask>>
  close(): Promise<void>
}

/** Lists between two writes, as in the table of goals. */
export function afterWrites(list: () => Ask, write: () => Ask, listsPerWrite: number): () => Ask {
  let turn = 0
  return () => {
    turn = (turn + 1) % (listsPerWrite + 1)
    return turn === 0 ? write() : list()
  }
}
