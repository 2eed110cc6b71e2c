/**
 * The example of each block is what it says: a blueprint file that a builder can import, and requests that are answered
 * so. Import and export go over HTTP through the commands, the requests to the port of a real server.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type ExampleStep, findExamples } from '../src/blocks/block-example.ts'
import { findBlocks } from '../src/blocks/load-blocks.ts'
import { importBlueprint } from '../src/flows/blueprints/blueprint-file.ts'
import type { JsonObject, JsonValue } from '../src/shared/json.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './end-to-end/harness.ts'
import { expectedFrom, filledIn, filledText, type Seen } from './example-text.ts'
import { type MailServer, openMailServer } from './mail-server.ts'
import { openVisitor, type SeenPage, type Visitor } from './page-visitor.ts'
import { quoinCommand } from './recording-terminal.ts'

const blocks = await findBlocks()
const examples = await findExamples()

let fixture: TestQuoin
let address: string
let mails: MailServer
let directory: string

beforeAll(async () => {
  // One example asks Quoin itself; all requests come from one address.
  mails = await openMailServer()
  fixture = await openTestQuoin({
    QUOIN_ALLOWED_HOSTS: '127.0.0.1',
    QUOIN_RATE_LIMIT: '0',
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'examples@example.com',
    QUOIN_PUBLIC_URL: 'https://examples.example.com',
  })
  await fixture.manage('POST', '/_system/authentication-groups', { name: 'club', scopes: ['club_news'] })
  address = await fixture.quoin.server.listen()
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})
afterAll(async () => {
  await fixture.close()
  await mails.close()
  await rm(directory, { recursive: true, force: true })
})

/** `group/identifier` of what is in the first and not in the second. */
function missing(
  these: readonly { readonly group: string; readonly identifier: string }[],
  those: readonly { readonly group: string; readonly identifier: string }[],
): string[] {
  const names = new Set(those.map(({ group, identifier }) => `${group}/${identifier}`))
  return these.map(({ group, identifier }) => `${group}/${identifier}`).filter((name) => !names.has(name))
}

const named = blocks.map(({ group, definition }) => ({ group, identifier: definition.identifier }))

test('each block has an example beside it, and each example a block', () => {
  expect(missing(named, examples)).toEqual([])
  expect(missing(examples, named)).toEqual([])
})

test('a block without an example is named', () => {
  const others = examples.filter(({ identifier }) => identifier !== 'branch')
  expect(missing(named, others)).toEqual(['logic/branch'])
})

/** Runs a `quoin` command against the server; gives what it printed. */
async function command(...words: string[]): Promise<string> {
  const QUOIN_TOKEN = await fixture.tokenOf('admin')
  const { code, printed, complained } = await quoinCommand([...words, '--url', address], { QUOIN_TOKEN })
  expect([code, complained]).toEqual([0, ''])
  return printed
}

interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: JsonValue | undefined
  /** The text of a page. */
  readonly text: string
}

const isJson = ({ headers }: Response) => /\bjson\b/.test(headers.get('content-type') ?? '')

const isStream = ({ headers }: Response) =>
  headers.get('content-type')?.startsWith('text/event-stream') === true

/** The data of the first event. Leaving the loop ends the connection. */
async function firstEvent(reply: Response): Promise<string> {
  let text = ''
  for await (const chunk of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const data = /^data: (.*)\n\n/m.exec(text)?.[1]
    if (data !== undefined) return data
  }
  throw new Error(`The stream had no event: ${text}`)
}

async function ask({ as, request }: ExampleStep, seen: Seen): Promise<Reply> {
  const { method, path, headers, body } = request
  if (!path.startsWith('/api/')) return replyOfPage(await visit(await visitorFor(as), request, seen))
  const token = as === undefined ? {} : { authorization: `Bearer ${await fixture.tokenOf(as)}` }
  const reply = await fetch(`${address}${filledText(path, seen)}`, {
    method,
    headers: { ...headers, ...token, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(filledIn(body, seen)) }),
  })
  const text = isStream(reply) ? await firstEvent(reply) : await reply.text()
  return {
    status: reply.status,
    headers: reply.headers,
    body: text === '' ? undefined : isJson(reply) || isStream(reply) ? JSON.parse(text) : text,
    text,
  }
}

/** Each user has a browser, and so has the anonymous visitor. */
const visitors = new Map<string | undefined, Visitor>()

async function visitorFor(as: string | undefined): Promise<Visitor> {
  const visitor = visitors.get(as) ?? openVisitor(address)
  visitors.set(as, visitor)
  if (as !== undefined) visitor.setCookie('access_token', await fixture.tokenOf(as))
  return visitor
}

async function visit(
  visitor: Visitor,
  { path, form }: ExampleStep['request'],
  seen: Seen,
): Promise<SeenPage> {
  const page = await visitor.get(filledText(path, seen))
  if (!form) return page
  const { id, values = {}, button } = form
  return visitor.submit(page, id, values, button === undefined ? {} : { button })
}

function replyOfPage({ status, headers, text }: SeenPage): Reply {
  return { status, headers, body: undefined, text }
}

/** What is known after the step, if it is answered as the example says; the failed comparison otherwise. */
async function answered(step: ExampleStep, before: Seen): Promise<Seen> {
  const seen = new Map(before)
  const { status, headers, body, text } = await ask(step, seen)
  const said = step.reply
  const named = Object.keys(said.headers ?? {}).map((name) => [name, headers.get(name)])
  const got = { status, headers: Object.fromEntries(named), body }
  expect(got).toEqual({
    status: said.status,
    headers: said.headers ?? {},
    body: said.body === undefined ? undefined : expectedFrom(said.body, body, seen),
  })
  let at = 0
  for (const shown of said.shows ?? []) {
    expect(text.slice(at)).toContain(filledText(shown, seen))
    at = text.indexOf(filledText(shown, seen), at) + shown.length
  }
  for (const hidden of said.shows_not ?? []) expect(text).not.toContain(filledText(hidden, seen))
  return seen
}

async function eventually(step: ExampleStep, before: Seen): Promise<Seen> {
  for (const until = Date.now() + 10_000; ; ) {
    try {
      return await answered(step, before)
    } catch (error) {
      if (Date.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

function counter(): () => string {
  let next = 0
  return () => `block-${next++}`
}

/** No example sees what another one stored. */
async function leaveNothing(blueprint: string): Promise<void> {
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  await fixture.manage('DELETE', `/blueprints/${blueprint}`)
  // Before the storages: one that a reference leads to cannot be deleted.
  const fields: JsonObject[] = objectsOf(await fixture.manage('POST', '/blueprintfields/search', {}))
  for (const field of fields) await fixture.manage('DELETE', `/blueprintfields/${guidOf(field)}`)
  const storages: JsonObject[] = objectsOf(await fixture.manage('POST', '/_system/storages/search', {}))
  for (const storage of storages) await fixture.manage('DELETE', `/_system/storages/${guidOf(storage)}`)
}

const users = new Set(examples.flatMap(({ example }) => example.steps.flatMap(({ as }) => as ?? [])))
users.delete('admin')

/** All; in a copy of the repository that adds a block, that one. */
const chosen = examples.filter(({ identifier }) => [undefined, identifier].includes(inject('onlyExample')))

describe('an example', () => {
  beforeAll(async () => {
    for (const username of users) await fixture.addUser(username, [])
  })

  test.each(chosen.map((found) => [found.identifier, found] as const))(
    '%s',
    async (identifier, { example }) => {
      const { blueprint, fields = [], secrets = {}, connections = {}, steps } = example
      for (const [name, value] of Object.entries(secrets))
        await fixture.manage('POST', '/_system/secrets', { name, value })
      for (const [name, url] of Object.entries(connections))
        await fixture.manage('POST', '/_system/connections', {
          name,
          base_url: url.replace('<address>', address),
        })
      const storages = new Set(fields.map(({ storage }) => String(storage)))
      for (const name of storages) await fixture.manage('POST', '/_system/storages', { name })
      for (const field of fields) await fixture.manage('POST', '/blueprintfields', field)
      expect(Object.values(blueprint.blocks).map(({ type }) => type)).toContain(identifier)
      const file = join(directory, `${identifier}.json`)
      await writeFile(file, JSON.stringify(blueprint))
      const guid = await command('import', file, '--activate')
      try {
        let seen: Seen = new Map([['address', address]])
        for (const step of steps) seen = await (step.eventually ? eventually : answered)(step, seen)
        const exported: unknown = JSON.parse(await command('export', guid))
        expect(importBlueprint(exported, counter())).toEqual(importBlueprint(blueprint, counter()))
      } finally {
        await leaveNothing(guid)
      }
    },
  )
})

test('a reply that differs is seen, and so is a text that no reply has told', () => {
  const seen: Seen = new Map()
  const guid = '01890000-0000-7000-8000-000000000000'
  const got = { _meta: { guid, created: 1 }, item: 'Tea' }
  const said = { _meta: { guid: '<guid:order>' }, item: 'Tea' }
  expect(expectedFrom(said, got, seen)).toEqual(got)
  expect(filledText('/orders/<guid:order>', seen)).toBe(`/orders/${guid}`)
  for (const other of [
    { ...got, item: 'Milk' },
    { ...got, more: 1 },
    { item: 'Tea' },
    { ...got, _meta: { guid: 'x' } },
    [got],
    null,
  ])
    expect(expectedFrom(said, other, new Map())).not.toEqual(other)
  // The second time the same value is meant, not any guid.
  const another = { ...got, _meta: { guid: guid.replace(/0$/, '1') } }
  expect(expectedFrom(said, another, seen)).not.toEqual(another)
  expect(() => filledText('/orders/<guid:other>', seen)).toThrow('<guid:other>')
})
