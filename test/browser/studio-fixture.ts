/** The studio, as it is built, in front of a cluster without anything in it. One server for a test file: `studioOfSuite`. */
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { adminPassword, openTestQuoin, type TestQuoin } from '../end-to-end/harness.ts'
import { shareBrowser } from './shared-browser.ts'

export interface StudioFixture {
  readonly quoin: TestQuoin
  readonly address: string
  /** What the browser complained about since it was last asked: errors of scripts, and what the policy kept out. */
  complaints(): readonly string[]
  /** A tab of a browser of its own, at an address below `/studio`. `user` is signed in; `undefined`: anonymous. */
  open(user: string | undefined, path: string, options?: BrowserContextOptions): Promise<Page>
  /** Asks an endpoint from outside, as any client would: without the browser and what it is signed in with. */
  ask(method: string, path: string, sent?: { as?: string; body?: JsonValue }): Promise<Answer>
  close(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly body: JsonValue | undefined
}

/** What the browser says where a test asks for something that is not there, or not public. */
const expected = /status of 4\d\d/

export async function openStudio(settings: Readonly<Record<string, string>> = {}): Promise<StudioFixture> {
  // On a busy machine a suite takes longer than a sign-in counts as new.
  const quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_CONFIRM_SECONDS: '3600', ...settings })
  const address = await quoin.quoin.server.listen()
  const browser = await shareBrowser()
  let complaints: string[] = []
  return {
    quoin,
    address,
    complaints() {
      const said = complaints
      complaints = []
      return said
    },
    async open(user, path, options = {}) {
      const context = await browser.newContext({
        baseURL: `${address}/studio/`,
        viewport: { width: 1280, height: 800 },
        reducedMotion: 'reduce',
        ...options,
      })
      context.setDefaultTimeout(20_000)
      if (user !== undefined) {
        const token = JSON.stringify(await quoin.tokenOf(user))
        await context.addInitScript(`sessionStorage.setItem('quoin.token', ${token})`)
      }
      const page = await context.newPage()
      page.on('console', (message) => {
        if (message.type() === 'error' && !expected.test(message.text())) complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(error.message))
      await page.goto(path)
      return page
    },
    async ask(method, path, { as, body } = {}) {
      const reply = await fetch(`${address}/api/v1${path}`, {
        method,
        headers: {
          ...(as !== undefined && { authorization: `Bearer ${await quoin.tokenOf(as)}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await reply.text()
      return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    async close() {
      await browser.close()
      await quoin.close()
    },
  }
}

/** The studio of a test file: opened before its first hook and test, closed behind its last. Only these may ask it. */
export function studioOfSuite(settings: Readonly<Record<string, string>> = {}): Omit<StudioFixture, 'close'> {
  let opened: StudioFixture | undefined
  beforeAll(async () => {
    opened = await openStudio(settings)
  })
  afterAll(() => opened?.close())
  const studio = () => {
    if (opened === undefined)
      throw new Error('The studio is opened before the first test, and not with its file.')
    return opened
  }
  return {
    get quoin() {
      return studio().quoin
    },
    get address() {
      return studio().address
    },
    complaints: () => studio().complaints(),
    open: (...place) => studio().open(...place),
    ask: (...request) => studio().ask(...request),
  }
}

/**
 * Goes to an address, or a path below `/studio/`, as a link there does, and keeps what is loaded: a tenth of the processor time of
 * `goto`, which compiles a megabyte of scripts again.
 */
export async function goWithin(page: Page, path: string): Promise<void> {
  // By way of an address without a screen: nothing of the screen before can pass for the next one.
  const nowhere = page.locator('main h1', { hasText: 'Page not found' })
  await push(page, 'nowhere')
  await nowhere.waitFor()
  await push(page, path)
  await nowhere.waitFor({ state: 'detached' })
}

async function push(page: Page, path: string): Promise<void> {
  const { pathname, search } = new URL(path, new URL('/studio/', page.url()))
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(pathname + search)})`)
}

/** What the administrator types in at the first sign-in. */
export const administrator = { username: 'admin', password: adminPassword } as const
