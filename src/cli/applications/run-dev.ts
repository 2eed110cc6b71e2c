import { watch } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Terminal } from '../command.ts'
import { withManagement } from '../open-management.ts'
import { remoteAddress } from './remotes.ts'
import { WatchedFolder } from './watched-folder.ts'

/** The studio is asked this often. */
const LOOK_MS = 1_000
/** Files that an editor saves together are one release. */
const TOGETHER_MS = 30

/** Until the signal. What fails is told once, and tried again: the server may be starting. */
export async function runDev(
  folder: string,
  cluster: { readonly url?: string | undefined; readonly remote?: string | undefined },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const input = await remoteAddress(terminal, cluster)
  const address = input ?? `http://127.0.0.1:${terminal.options().port}`
  return withManagement(terminal, address, async (management) => {
    const watched = new WatchedFolder(folder, management, terminal)
    const changes = new Signalled()
    const watcher = watch(folder, { recursive: true }, () => changes.signal())
    signal.addEventListener('abort', () => changes.signal())
    terminal.announce(`Following ${folder} and ${address}. Stop with Ctrl+C.`)
    let failure = ''
    try {
      while (!signal.aborted) {
        const message = await watched.follow().then(
          () => '',
          (error: unknown) => (error instanceof Error ? error.message : String(error)),
        )
        if (message !== '' && message !== failure) terminal.complain(message)
        failure = message
        await changes.next()
        await wait(TOGETHER_MS)
      }
    } finally {
      watcher.close()
    }
    return 0
  })
}

/** One that comes while nothing waits is kept for the next. */
class Signalled {
  #isSignalled = false
  #wake: (() => void) | undefined

  signal(): void {
    this.#isSignalled = true
    this.#wake?.()
  }

  /** At once if there was one, and after {@link LOOK_MS} without any. */
  async next(): Promise<void> {
    if (!this.#isSignalled)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_MS)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    this.#isSignalled = false
    this.#wake = undefined
  }
}
