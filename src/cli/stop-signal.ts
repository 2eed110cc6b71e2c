import type { EventEmitter } from 'node:events'
import type { Clock } from '../shared/clock.ts'

/** Exit codes of a process that a signal ended, as shells count them: 128 and the signal's number. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const

type StopSignal = keyof typeof exitCodes

/** A terminal sends a signal to a whole group, and npm and `keep-running.mjs` hand it on as well: so it comes up to three times. */
const SAME_MS = 100

/** Resolves with the first signal to stop. A second one, whichever of the two it is, ends the process at once. */
export function stopSignal(
  source: EventEmitter,
  clock: Clock,
  exit: (code: number) => void,
): Promise<StopSignal> {
  return new Promise((resolve) => {
    let first: { readonly signal: StopSignal; readonly at: number } | undefined
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      source.on(signal, () => {
        if (first?.signal === signal && clock() - first.at < SAME_MS) return
        if (first) exit(exitCodes[signal])
        first ??= { signal, at: clock() }
        resolve(signal)
      })
    }
  })
}
