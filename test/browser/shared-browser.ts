/**
 * One Chromium for a process of the test run, which runs many files one after the other: starting one costs a second or
 * two of processor time. It ends with the process: Playwright kills it on exit and on signals, and a Chromium whose
 * process was killed sees its pipe closed and ends by itself.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import { openBrowser } from './open-browser.ts'

/** What a test file has of it. */
export interface SharedBrowser {
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>
  /** Closes the contexts of this file; no page of it goes on asking a server that is gone. */
  close(): Promise<void>
}

let browser: Promise<Browser> | undefined
let built: Promise<unknown> | undefined

/** The studio of the sources as they are: built by the first suite that wants a browser. Others wait for that one. */
function builtStudio(): Promise<unknown> {
  const root = join(import.meta.dirname, '../..')
  built ??= promisify(execFile)(process.execPath, ['scripts/setup.mjs', 'test'], { cwd: root })
  return built
}

async function runningBrowser(): Promise<Browser> {
  const running = await browser?.catch(() => undefined)
  if (running?.isConnected()) return running
  browser = openBrowser()
  return browser
}

export async function shareBrowser(): Promise<SharedBrowser> {
  const [shared] = await Promise.all([runningBrowser(), builtStudio()])
  const contexts = new Set<BrowserContext>()
  return {
    async newContext(options) {
      const context = await shared.newContext(options)
      contexts.add(context)
      context.once('close', () => contexts.delete(context))
      return context
    },
    async close() {
      await Promise.all([...contexts].map((context) => context.close()))
    },
  }
}
