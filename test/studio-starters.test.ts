/** The blueprints that the studio offers to start from: each can be activated, and answers as its summary says. */
import { readdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject } from '../src/shared/json.ts'
import { guidOf, openTestQuoin, type TestQuoin } from './end-to-end/harness.ts'

const folder = new URL('../src/studio/starters/', import.meta.url)

let fixture: TestQuoin
beforeAll(async () => {
  fixture = await openTestQuoin()
})
afterAll(() => fixture.close())

async function blocksOf(name: string): Promise<JsonObject> {
  const text = await readFile(new URL(`${name}.blueprint.json`, folder), 'utf8')
  const file: unknown = JSON.parse(text.replace('"1m"', '"1s"'))
  if (!isJsonObject(file) || !isJsonObject(file.blocks)) throw new Error(`${name} is no blueprint file.`)
  return file.blocks
}

describe('a template of the studio', () => {
  it('is a file that can be activated as it is, each of them', async () => {
    const files = (await readdir(folder)).filter((name) => name.endsWith('.blueprint.json'))
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) {
      const name = file.replace('.blueprint.json', '')
      await expect(fixture.install(name, await blocksOf(name)), name).resolves.toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  it.each([
    ['/hello', { hello: 'world' }],
    ['/hello?name=Ann', { hello: 'Ann' }],
    ['/hello?name=', { hello: 'world' }],
  ])('says hello at %s', async (path, body) => {
    expect((await fixture.send('GET', path)).body).toEqual(body)
  })

  it('keeps a guestbook, the newest entry first', async () => {
    for (const name of ['Ann', 'Bob'])
      expect(
        (await fixture.send('POST', '/guestbook', { body: { name, message: 'hi', more: 1 } })).status,
      ).toBe(201)
    const { body } = await fixture.send('GET', '/guestbook')
    expect(body).toMatchObject([{ name: 'Bob', message: 'hi' }, { name: 'Ann' }])
    expect(JSON.stringify(body)).not.toContain('more')
  })

  it('refuses an entry without a message, and stores nothing of it', async () => {
    const before = (await fixture.documents('guestbook')).length
    expect(await fixture.send('POST', '/guestbook', { body: { name: 'Ann' } })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('message is required') },
    })
    expect((await fixture.documents('guestbook')).length).toBe(before)
  })

  it('replies to an order at once, and writes its receipt', async () => {
    const { status, body } = await fixture.send('POST', '/orders', { body: { item: 'Tea', total: 4 } })
    expect([status, body]).toEqual([202, expect.objectContaining({ item: 'Tea', total: 4 })])
    const order = guidOf(body)
    await expect
      .poll(async () => (await fixture.send('GET', '/receipts')).body, { timeout: 10_000 })
      .toMatchObject([{ order, total: 4 }])
  })

  it('writes a beat, every second here', async () => {
    await expect
      .poll(async () => (await fixture.send('GET', '/last-beat')).body, { timeout: 10_000 })
      .toMatchObject({ planned_at: expect.stringMatching(/^\d{4}-.*Z$/) })
  })
})
