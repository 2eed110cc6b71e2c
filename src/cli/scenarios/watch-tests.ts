import { watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Terminal } from '../command.ts'
import { runTests } from './run-tests.ts'

/** Files that an editor saves together are one run. */
const TOGETHER_MS = 50

type Requested = Parameters<typeof runTests>[0]

/** Runs the tests now and after each save, until the signal. After a save of one test alone that test runs alone. */
export async function watchTests(
  requested: Requested,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const isFolder = (await stat(requested.folder)).isDirectory()
  const saved = new Set<string>()
  let wake = () => {}
  const watcher = watch(
    isFolder ? requested.folder : dirname(requested.folder),
    { recursive: true },
    (_event, name) => {
      // Not what editors and Quoin keep beside the files.
      if (name === null || name.startsWith('.')) return
      saved.add(name)
      wake()
    },
  )
  signal.addEventListener('abort', () => wake())
  try {
    for (let files: readonly string[] = []; !signal.aborted; ) {
      const [only] = files
      const filter = files.length === 1 && only?.endsWith('.test.json') ? only : requested.filter
      await runTests({ ...requested, filter }, terminal).catch((error: unknown) => {
        terminal.complain(error instanceof Error ? error.message : String(error))
      })
      if (saved.size === 0 && !signal.aborted) {
        terminal.announce('Waiting for a save. Stop with Ctrl+C.')
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      await wait(TOGETHER_MS)
      files = [...saved]
      saved.clear()
    }
  } finally {
    watcher.close()
  }
  return 0
}
