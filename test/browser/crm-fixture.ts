/** The example application of a small company, installed in a server of its own, with a user for each of its roles. */
import type { BrowserContextOptions, Page } from 'playwright-core'
import { installExample, readExample } from '../../src/applications/install-example.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from '../end-to-end/harness.ts'
import { type SharedBrowser, shareBrowser } from './shared-browser.ts'

const roles = {
  sales: 'CRM sales',
  viewer: 'CRM viewer',
  chief: 'CRM administration',
  website: 'CRM website',
} as const
export type CrmUser = keyof typeof roles

export interface CrmFixture {
  readonly quoin: TestQuoin
  readonly address: string
  /** What the browser complained about since it was last asked: errors of scripts, and what the policy kept out. */
  complaints(): readonly string[]
  /** A page of a browser in which the user is signed in; `undefined`: anonymous. Closed with the room. */
  open(user: CrmUser | undefined, options?: BrowserContextOptions): Promise<Page>
  close(): Promise<void>
}

export async function openCrm(settings: Readonly<Record<string, string>> = {}): Promise<CrmFixture> {
  const quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', ...settings })
  await installExample(quoin.quoin.applications, await readExample('crm'), { guid: '', username: 'test' })
  const groups = objectsOf(await quoin.manage('POST', '/_system/authentication-groups/search', {}))
  for (const [user, name] of Object.entries(roles)) {
    const group = groups.find((one) => one.name === name)
    const guid = await quoin.addUser(user, [])
    await quoin.manage('PUT', `/users/${guid}`, { groups: [guidOf(group)] })
  }
  const address = await quoin.quoin.server.listen()
  let browser: SharedBrowser | undefined
  let complaints: string[] = []

  return {
    quoin,
    address,
    complaints() {
      const said = complaints
      complaints = []
      return said
    },
    async open(user, options = {}) {
      browser ??= await shareBrowser()
      const context = await browser.newContext({ baseURL: address, reducedMotion: 'reduce', ...options })
      context.setDefaultTimeout(15_000)
      if (user)
        await context.addCookies([
          { name: 'access_token', value: await quoin.tokenOf(user), url: address, httpOnly: true },
        ])
      const page = await context.newPage()
      page.on('console', (message) => {
        // That a page is not there, or not public, is what some tests are about.
        if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
          complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(error.message))
      return page
    },
    async close() {
      await browser?.close()
      await quoin.close()
    },
  }
}
