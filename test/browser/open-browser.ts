import { type Browser, chromium } from 'playwright-core'
import { type Chromium, findChromium } from './find-chromium.ts'

/** One browser for a test file; each test opens contexts of its own in it. Close it. */
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
  throw new AggregateError(failures, 'No Chromium starts here.')
}
