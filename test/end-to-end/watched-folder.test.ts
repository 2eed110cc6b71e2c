/** `quoin dev`: a folder and a cluster that are kept the same while both are edited. */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { runDev } from '../../src/cli/applications/run-dev.ts'
import { WatchedFolder } from '../../src/cli/applications/watched-folder.ts'
import type { Terminal } from '../../src/cli/command.ts'
import { remoteManagement } from '../../src/cli/remote-management.ts'
import { readOptions } from '../../src/options/options.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { applicationsOfSuite } from './application-fixture.ts'
import { guidOf, objectOf, objectsOf } from './harness.ts'

const offered = join(tmpdir(), `quoin-offered-${process.pid}-${Date.now()}`)
const cluster = applicationsOfSuite({ QUOIN_BLOCKS: offered })
afterAll(() => rm(offered, { recursive: true, force: true }))

let made = 0
/** A folder of its own, and a terminal that remembers what was printed. */
async function folderFor() {
  const name = `followed${Date.now().toString(36)}${made++}`
  const folder = join(cluster.directory, name)
  const save = async (path: string, content: JsonValue) => {
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  await save('quoin.json', { name })
  await save('blueprints/hello.json', blueprint(name, 'hello'))
  await save('templates/frame.json', { name: `${name} frame`, description: 'first' })
  const lines: string[] = []
  const terminal: Terminal = {
    options: () => ({ ...readOptions({ XDG_CONFIG_HOME: '/nowhere' }), token }),
    print: (text) => void lines.push(text),
    complain: (text) => void lines.push(text),
    announce: (text) => void lines.push(text),
    readLine: async () => '',
    readSecret: async () => '',
    clock: Date.now,
    random: () => undefined,
  }
  const token = await cluster.quoin.tokenOf('admin')
  const template = async (changes: JsonObject) => {
    const filters = { name: `${name} frame` }
    const [found] = objectsOf(await cluster.quoin.manage('POST', '/blueprinttemplates/search', { filters }))
    if (Object.keys(changes).length > 0)
      await cluster.quoin.manage('PUT', `/blueprinttemplates/${guidOf(found ?? {})}`, changes)
    return found ?? {}
  }
  const read = (path: string) => readFile(join(folder, path), 'utf8').catch(() => '')
  return { name, folder, save, read, lines, template, terminal }
}

/** It is followed until the test ends. */
async function watched() {
  const { folder, terminal, ...fixture } = await folderFor()
  const { name, lines } = fixture
  const stop = new AbortController()
  const ended = runDev(folder, { url: cluster.base }, terminal, stop.signal)
  onTestFinished(async () => {
    stop.abort()
    expect(await ended).toBe(0)
  })
  const replies = (value: JsonValue) =>
    expect
      .poll(async () => (await cluster.quoin.send('GET', `/${name}`)).body, { timeout: 10_000 })
      .toBe(value)
  const printed = (text: string) => expect.poll(() => lines.join('\n'), { timeout: 10_000 }).toContain(text)
  await replies('hello')
  await printed('Live after')
  return { ...fixture, replies, printed }
}

const blueprint = (name: string, value: JsonValue): JsonObject => ({
  name,
  blocks: {
    on: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value } },
  },
})

test('a saved file is live, its tests run, and a file with a mistake changes nothing until it is mended', async () => {
  const { name, save, lines, replies, printed } = await watched()
  await save('tests/hello.test.json', {
    name: 'Says hi',
    steps: [{ request: `GET /${name}`, expect: { status: 200, body: 'hi' } }],
  })
  await printed('FAIL Says hi')
  await save('blueprints/hello.json', blueprint(name, 'hi'))
  await replies('hi')
  await printed('ok   Says hi')
  await save('blueprints/hello.json', '{ "name": "half')
  await printed('hello.json:1:')
  expect((await cluster.quoin.send('GET', `/${name}`)).body).toBe('hi')
  await save('blueprints/hello.json', blueprint(name, 'mended'))
  await replies('mended')
  expect(lines.filter((line) => line.includes('hello.json:1:')).length).toBeGreaterThan(0)
})

test('tests that name what changed come first, all of them where that is not known, and the others again with the next save', async () => {
  const { name, save, lines, printed } = await watched()
  const asks = (title: string, uri: string, value: string) => ({
    name: title,
    steps: [{ request: `GET /${uri}`, expect: { status: 200, body: value } }],
  })
  const other = `${name}_other`
  await save('blueprints/other.json', { ...blueprint(other, 'other'), name: other })
  await save('tests/a-hello.test.json', asks('Says hello', name, 'hello'))
  await save('tests/b-other.test.json', asks('Says other', other, 'other'))
  await printed('ok   Says hello')
  await printed('ok   Says other')
  const ran = async (path: string, content: JsonValue) => {
    lines.length = 0
    await save(path, content)
    await printed('2 tests, ')
    return lines.filter((line) => /^(?:ok|FAIL|Tests of)/.test(line)).map((line) => line.replace(/ \(.*/, ''))
  }
  expect(await ran('blueprints/other.json', { ...blueprint(other, 'changed'), name: other })).toEqual([
    'Tests of what changed first: 1 of 2.',
    'FAIL Says other',
    'ok   Says hello',
  ])
  expect(await ran('templates/frame.json', { name: `${name} frame`, description: 'second' })).toEqual([
    'ok   Says hello',
    'FAIL Says other',
  ])
})

test('what the studio saves is written into the folder, and other files of the folder stay as they are', async () => {
  const { name, read, printed, template } = await watched()
  const hello = await read('blueprints/hello.json')
  await template({ description: 'of the studio' })
  await printed('studio: templates/frame.json changed')
  expect(JSON.parse(await read('templates/frame.json'))).toMatchObject({ description: 'of the studio' })
  expect(await read('blueprints/hello.json')).toBe(hello)
  expect((await template({})).description).toBe('of the studio')
  expect((await cluster.quoin.send('GET', `/${name}`)).body).toBe('hello')
})

test('a file that was changed in both keeps both, and the next save of it decides', async () => {
  const { name, save, read, lines, template, terminal } = await folderFor()
  const management = remoteManagement(cluster.base, await cluster.quoin.tokenOf('admin'))
  const turns = new WatchedFolder(join(cluster.directory, name), management, terminal)
  await turns.follow()
  await template({ description: 'theirs' })
  await save('templates/frame.json', { name: `${name} frame`, description: 'mine' })
  for (let turn = 0; turn < 3; turn++) await turns.follow()
  expect(lines.filter((line) => line.startsWith('conflict: templates/frame.json'))).toHaveLength(1)
  expect(JSON.parse(await read('.quoin/studio/templates/frame.json'))).toMatchObject({
    description: 'theirs',
  })
  expect(JSON.parse(await read('templates/frame.json'))).toMatchObject({ description: 'mine' })
  expect((await template({})).description).toBe('theirs')
  await save('templates/frame.json', { name: `${name} frame`, description: 'both' })
  await turns.follow()
  expect((await template({})).description).toBe('both')
})

test('a conflict that is over lets the folder be pushed again', async () => {
  const { name, save, read, template, terminal } = await folderFor()
  const management = remoteManagement(cluster.base, await cluster.quoin.tokenOf('admin'))
  const turns = new WatchedFolder(join(cluster.directory, name), management, terminal)
  await turns.follow()
  const both = async (description: string) => {
    await template({ description })
    await save('templates/frame.json', { name: `${name} frame`, description: 'mine' })
    await turns.follow()
  }
  const isPushed = async (value: string) => {
    await save('blueprints/hello.json', blueprint(name, value))
    for (let turn = 0; turn < 2; turn++) await turns.follow()
    expect((await cluster.quoin.send('GET', `/${name}`)).body).toBe(value)
  }
  await both('theirs')
  await save('templates/frame.json', await read('.quoin/studio/templates/frame.json'))
  await isPushed('after the other version was taken')
  await both('once more')
  await template({ description: 'theirs' })
  await isPushed('after the studio took its own back')
  expect((await template({})).description).toBe('mine')
})

test('words about stored values stay in the folder, through pushes, changes of the studio and another start', async () => {
  const { name, save, read, terminal } = await folderFor()
  const management = remoteManagement(cluster.base, await cluster.quoin.tokenOf('admin'))
  const path = `storages/${name}.json`
  const fields = { state: { type: 'string', fill: 'open' }, note: { type: 'string' } }
  const states = async () => Object.keys(objectOf(objectOf(JSON.parse(await read(path)).fields).state ?? {}))
  await save(path, { fields })
  for (let start = 0; start < 2; start++) {
    const turns = new WatchedFolder(join(cluster.directory, name), management, terminal)
    for (let turn = 0; turn < 3; turn++) await turns.follow()
    expect(await states()).toContain('fill')
    const ofStorage = { filters: { storage: name } }
    const note = objectsOf(await cluster.quoin.manage('POST', '/blueprintfields/search', ofStorage)).find(
      (field) => field.name === 'note',
    )
    const help = `of the studio ${start}`
    await cluster.quoin.manage('PUT', `/blueprintfields/${guidOf(note ?? {})}`, { help })
    for (let turn = 0; turn < 2; turn++) await turns.follow()
    expect(await read(path)).toContain(help)
    expect(await states()).toContain('fill')
  }
})

test.each(['plan', 'push'])('what the studio saves before a %s is not written over', async (before) => {
  const { name, save, read, template, terminal } = await folderFor()
  const remote = remoteManagement(cluster.base, await cluster.quoin.tokenOf('admin'))
  let isStudioBusy = false
  const management: typeof remote = {
    ...remote,
    async call(method, path, body) {
      if (isStudioBusy && path.endsWith(`/${before}`)) {
        isStudioBusy = false
        await template({ description: 'theirs' })
      }
      return remote.call(method, path, body)
    },
  }
  const turns = new WatchedFolder(join(cluster.directory, name), management, terminal)
  await turns.follow()
  await save('blueprints/hello.json', blueprint(name, 'hi'))
  isStudioBusy = true
  await expect(turns.follow()).rejects.toThrow('was changed')
  expect((await template({})).description).toBe('theirs')
  for (let turn = 0; turn < 2; turn++) await turns.follow()
  expect(JSON.parse(await read('templates/frame.json'))).toMatchObject({ description: 'theirs' })
  expect((await template({})).description).toBe('theirs')
  expect((await cluster.quoin.send('GET', `/${name}`)).body).toBe('hi')
})

test('a saved extension is checked and tested, and the cluster goes on with its own code', async () => {
  const { name, save, lines, terminal } = await folderFor()
  const folder = join(cluster.directory, name)
  const block = (greeting: string) => `
    import { defineFlow } from 'quoin/extension'
    export default defineFlow({
      identifier: 'greeter_greet', title: 'Greet', summary: 'Greets.', in: {},
      out: { said: { type: 'value', help: 'The greeting.' } },
      async run() { return { said: ${greeting} } },
    })`
  const entry = 'extensions/greeter/blocks/greeter_greet.js'
  await save('extensions/greeter/package.json', {
    ...{ name: 'quoin-greeter', version: '1.0.0', quoin: { extension: 'greeter' } },
  })
  await save(entry, block("'hello'"))
  await save('quoin.json', { name, needs: { extensions: { greeter: '1.0.0' } } })
  await save('blueprints/hello.json', {
    name,
    blocks: {
      on: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
      greet: { type: 'greeter_greet', in: { flow: '@on.flow' } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@greet.flow', value: '@greet.said' } },
    },
  })
  await save('tests/hello.test.json', {
    name: 'Says hello',
    steps: [{ request: `GET /${name}`, expect: { body: 'hello' } }],
  })
  await cp(join(folder, 'extensions'), offered, { recursive: true })
  const code = objectsOf(await cluster.quoin.manage('GET', '/_system/extensions'))[0]?.found
  await cluster.quoin.manage('PUT', '/_system/extensions/greeter', {
    ...{ on: true, hash: String(objectOf(code ?? {}).hash) },
  })
  const management = remoteManagement(cluster.base, await cluster.quoin.tokenOf('admin'))
  const turns = new WatchedFolder(folder, management, terminal)
  const turn = async () => {
    lines.length = 0
    await turns.follow()
    return lines.map((line) => line.replace(/ \(.*| after \d+ ms\.$|, \d.*s\.$/, ''))
  }
  expect(await turn()).toEqual(expect.arrayContaining(['Live', 'ok   Says hello']))
  expect(await turn()).toEqual([])
  await save(entry, 'export default')
  expect((await turn()).join()).toContain('greeter')
  expect(await turn()).toEqual([])
  await save(entry, block("'hi'"))
  const changed = await turn()
  expect(changed[0]).toContain('quoin extension on greeter')
  expect(changed).toContain('FAIL Says hello')
  expect((await cluster.quoin.send('GET', `/${name}`)).body).toBe('hello')
  await save(entry, block("'hello' + ''"))
  expect(await turn()).toContain('ok   Says hello')
  expect(await turn()).toEqual([])
  // What the cluster tests, it tests with the code that is on there.
  await rm(join(folder, 'extensions'), { recursive: true })
  const text = blueprint(`${name}_again`, 'again')
  const draft = await cluster.quoin.manage('POST', '/_system/drafts', {
    ...{ application: name, changes: [{ path: 'blueprints/again.json', text: JSON.stringify(text) }] },
  })
  const tested = await cluster.quoin.manage('POST', `/_system/drafts/${objectOf(draft).guid}/test`)
  expect(tested).toMatchObject({ passed: true, results: [{ name: 'Says hello', failures: [] }] })
})
