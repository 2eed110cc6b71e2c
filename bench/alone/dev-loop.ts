/**
 * How long an edit takes to be seen with `npm run dev`: a text of the server until it is in a reply, and a text of the studio
 * until a browser shows it in the page that was open. In a copy of this checkout.
 *
 *   npm run dev:measure [-- --rounds 7]     exits with 1 when a median is over its limit
 */
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../test/browser/open-browser.ts'
import { startDevelopment } from '../../test/development-process.ts'
import { median } from '../statistics.ts'
import { milliseconds } from './goal.ts'

const SERVER_MS = 2_000
const STUDIO_MS = 1_000
const POLL_MS = 10
/** Between two rounds, so that none finds the other's work. */
const REST_MS = 1_000

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } })
const rounds = Number(values.rounds)

// Within the checkout, whose packages it finds as a folder above.
const root = join(import.meta.dirname, '..', '..')
await mkdir(join(root, 'dist'), { recursive: true })
const folder = await mkdtemp(join(root, 'dist', 'dev-loop-'))
try {
  await copyCheckout()
  const development = await startDevelopment(folder, 'data')
  const browser = await openBrowser()
  try {
    const server = await measured(serverEdits(development.address))
    const studio = await measured(studioEdits(development.address, await browser.newPage()))
    const isMet = [
      report('a text of the server until HTTP answers with it', server, SERVER_MS),
      report('a text of the studio until the open page shows it', studio, STUDIO_MS),
    ]
    process.exitCode = isMet.every(Boolean) ? 0 : 1
  } finally {
    await browser.close()
    await development.interrupt()
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function copyCheckout(): Promise<void> {
  for (const part of ['src', 'bin', 'scripts', 'examples', 'tsconfig.json'])
    await cp(join(root, part), join(folder, part), { recursive: true })
  const { name, version, scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  // Without a workspace of its own: Vite serves files of the outermost one, and packages are there.
  const manifest = { name, version, type: 'module', scripts: { dev: scripts.dev } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
}

/** Saves a file of the copy with another text, as editors do: a new file takes the place of the old one. */
async function edit(file: string, before: string, after: string): Promise<void> {
  const path = join(folder, file)
  const text = await readFile(path, 'utf8')
  if (!text.includes(before)) throw new Error(`${file} has no ${before}`)
  await writeFile(
    `${path}.new`,
    text.replace(before, () => after),
  )
  await rename(`${path}.new`, path)
}

async function measured(edits: AsyncGenerator<number>): Promise<number[]> {
  const times: number[] = []
  for await (const time of edits) {
    times.push(time)
    if (times.length === rounds) break
    await wait(REST_MS)
  }
  return times
}

async function* serverEdits(address: string): AsyncGenerator<number> {
  const headers = { authorization: `Bearer ${'x'.repeat(513)}` }
  let text = 'This is not an access token. Sign in again.'
  for (let round = 1; ; round++) {
    const next = `Edited ${round} times.`
    const began = performance.now()
    await edit('src/http/server/authenticate.ts', text, next)
    text = next
    while (!(await (await fetch(`${address}/api/v1/users/me`, { headers })).text()).includes(next))
      await wait(POLL_MS)
    yield performance.now() - began
  }
}

async function* studioEdits(address: string, page: Page): AsyncGenerator<number> {
  const refused: string[] = []
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) refused.push(message.text())
  })
  await page.goto(`${address}/studio`, { waitUntil: 'load', timeout: 120_000 })
  await page.getByLabel('User name or e-mail').fill('admin')
  await page.getByLabel('Password', { exact: true }).fill('quoin-development')
  await page.getByRole('button', { name: 'Sign in' }).click()
  let text = 'Welcome to Quoin'
  await page.getByRole('heading', { name: text }).waitFor({ timeout: 120_000 })
  await page.evaluate(() => Object.assign(globalThis, { isOpenSince: true }))
  for (let round = 1; ; round++) {
    const next = `Edited ${round} times`
    const began = performance.now()
    await edit('src/studio/texts/start.ts', `'${text}'`, `'${next}'`)
    text = next
    await page.getByRole('heading', { name: next }).waitFor()
    yield performance.now() - began
    if (!(await page.evaluate(() => 'isOpenSince' in globalThis)))
      throw new Error('The page was loaded again.')
    if (refused.length > 0) throw new Error(`The policy of the studio refused: ${refused.join('\n')}`)
  }
}

function report(what: string, times: readonly number[], limit: number): boolean {
  const isMet = median(times) < limit
  const sorted = times.toSorted((a, b) => a - b).map((time) => Math.round(time))
  console.log(
    `${what}: median ${milliseconds(median(times))} of ${sorted.join(', ')} ms; limit ${limit} ms, ${isMet ? 'met' : 'missed'}`,
  )
  return isMet
}
