import { type Browser, chromium } from 'playwright-core'
import { type Chromium, findChromium } from './find-chromium.ts'

/** Starts a browser. Close it. A test file takes the one of its process: `shared-browser.ts`. */
export async function openBrowser(ways?: readonly Chromium[]): Promise<Browser> {
  const failures: unknown[] = []
  for (const { executablePath, env } of ways ?? (await findChromium())) {
    try {
      return await chromium.launch({
        executablePath,
        env: { ...process.env, ...env },
        // The pages are our own, and in most containers there is no sandbox to be had.
        args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
      })
    } catch (error) {
      failures.push(error)
    }
  }
  const [first] = failures
  const why = first instanceof Error ? first.message.split('\n')[0] : 'none was found'
  const error = new Error(`No Chromium starts here: ${why}`, { cause: new AggregateError(failures) })
  // One line for each suite that wanted a browser; the cause has the rest.
  error.stack = error.message
  throw error
}
