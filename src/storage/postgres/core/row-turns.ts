/**
 * Sessions of this process that change the same document first, one after the other. In the database each would wait for its row
 * with a connection of its own: 32 clients of one document took half of the pool, and creates of other documents were
 * refused with UNAVAILABLE. A session that waits here has no connection and no lock, so it can be part of no circle.
 */
export interface RowTurns {
  /** Gives what ends the turn: at once where no other session has the row, else when it is the turn of the one that asks. */
  take(row: string): (() => void) | Promise<() => void>
  /** Rows that some session has. */
  readonly size: number
}

export function rowTurns(): RowTurns {
  /** By row: who waits for it. A row without waiting sessions has an empty list. */
  const waiting = new Map<string, (() => void)[]>()

  function ending(row: string): () => void {
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const next = waiting.get(row)?.shift()
      if (next) next()
      else waiting.delete(row)
    }
  }

  return {
    take(row) {
      const others = waiting.get(row)
      if (others === undefined) {
        waiting.set(row, [])
        return ending(row)
      }
      return new Promise((resolve) => others.push(() => resolve(ending(row))))
    },
    get size() {
      return waiting.size
    },
  }
}
