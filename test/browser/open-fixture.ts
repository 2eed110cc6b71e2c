import type { BrowserContextOptions, Page } from 'playwright-core'
import { type Answer, type GalleryServer, openGalleryServer } from './gallery-server.ts'
import { shareBrowser } from './shared-browser.ts'

export interface BrowserFixture {
  readonly server: GalleryServer
  /** A page in a context of its own. Whatever it writes to the console as a warning or error is in `complaints`. */
  visit(path: string, options?: BrowserContextOptions): Promise<Visit>
  close(): Promise<void>
}

export interface Visit {
  readonly page: Page
  readonly complaints: readonly string[]
}

/** A server of pages for one test file, and a browser to look at them. */
export async function openBrowserFixture(answer: Answer): Promise<BrowserFixture> {
  const server = await openGalleryServer(answer)
  const browser = await shareBrowser()
  return {
    server,
    async visit(path, options = {}) {
      const context = await browser.newContext({
        reducedMotion: 'reduce',
        timezoneId: 'Europe/Berlin',
        ...options,
      })
      context.setDefaultTimeout(8_000)
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('console', (message) => {
        if (['warning', 'error'].includes(message.type())) complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('dialog', (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      // axe needs a page that runs scripts; this one has none of its own.
      if (path.includes('module=none'))
        await page.route('**/_pages/**/*.js', (route) =>
          route.fulfill({ contentType: 'text/javascript', body: '' }),
        )
      await page.goto(server.address + path)
      return { page, complaints }
    },
    async close() {
      await browser.close()
      await server.close()
    },
  }
}
