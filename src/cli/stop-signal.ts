import type { EventEmitter } from 'node:events'

/** Exit codes of a process that a signal ended, as shells count them: 128 and the signal's number. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const

type StopSignal = keyof typeof exitCodes

/** Resolves with the first signal to stop. The second one, whichever of the two it is, ends the process at once. */
export function stopSignal(source: EventEmitter, exit: (code: number) => void): Promise<StopSignal> {
  return new Promise((resolve) => {
    let isStopping = false
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      source.on(signal, () => {
        if (isStopping) exit(exitCodes[signal])
        isStopping = true
        resolve(signal)
      })
    }
  })
}
