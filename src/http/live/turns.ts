/** Does many small things one after the other in short turns, so that requests are answered in between. */
export interface Turns {
  add(task: () => void): void
  /** Forgets what has not been done yet. */
  close(): void
}

/** The event loop is not held for longer than this and one task. */
const TURN_MS = 8
/** Between two turns, so that requests have at least a third of the time. */
const PAUSE_MS = 4

/** `failed` hears what a task throws; the other tasks are done all the same. */
export function openTurns(failed: (error: unknown) => void): Turns {
  let tasks: (() => void)[] = []
  let at = 0
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Immediate | undefined

  function turn(): void {
    timer = undefined
    soon = undefined
    const until = performance.now() + TURN_MS
    while (at < tasks.length && performance.now() < until) {
      const task = tasks[at]
      at += 1
      try {
        task?.()
      } catch (error) {
        failed(error)
      }
    }
    if (at < tasks.length) timer = setTimeout(turn, PAUSE_MS)
    else {
      tasks = []
      at = 0
    }
  }

  return {
    add(task) {
      tasks.push(task)
      if (!timer && !soon) soon = setImmediate(turn)
    },
    close() {
      clearTimeout(timer)
      clearImmediate(soon)
      tasks = []
      at = 0
    },
  }
}
