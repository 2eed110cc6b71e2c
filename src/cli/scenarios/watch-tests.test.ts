import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readOptions } from '../../options/options.ts'
import type { Terminal } from '../command.ts'
import { watchTests } from './watch-tests.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** In one step, as most editors do it: a file that is half written would be a run of its own. */
async function save(file: string, content: object): Promise<void> {
  await writeFile(join(folder, '.part'), JSON.stringify(content))
  await rename(join(folder, '.part'), join(folder, file))
}
const asking = (name: string, status: number) => ({
  name,
  steps: [{ request: 'GET /hello', expect: { status } }],
})
const hello = (value: string) => ({
  name: 'Hello',
  blocks: {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'hello' }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value } },
  },
})

test('tests run again after a save: a saved test alone, all after a change of a blueprint, and mistakes are told', async () => {
  await save('hello.blueprint.json', hello('a'))
  await save('one.test.json', asking('One', 200))
  await save('two.test.json', asking('Two', 200))
  const printed: string[] = []
  const complained: string[] = []
  const terminal: Terminal = {
    options: () => ({ ...readOptions({}), token: '' }),
    readLine: async () => '',
    readSecret: async () => '',
    clock: Date.now,
    random: (bytes) => void crypto.getRandomValues(bytes),
    print: (line: string) => void printed.push(line),
    complain: (line: string) => void complained.push(line),
    announce: (line: string) => void printed.push(line),
  }
  const stop = new AbortController()
  const requested = { folder, filter: undefined, reporter: 'text', coverage: false, minCoverage: 0 } as const
  const watching = watchTests(requested, terminal, stop.signal)
  /** What was printed until the next wait, without times. */
  const turn = async () => {
    await expect.poll(() => printed.at(-1), { timeout: 60_000 }).toMatch(/^Waiting/)
    return printed
      .splice(0)
      .slice(0, -1)
      .map((line) => line.replace(/,? ?\(?\d+(\.\d)? m?s\)?\.?$/, '').trim())
  }
  expect(await turn()).toEqual(['ok   One', 'ok   Two', '2 tests, 0 failed'])
  await save('two.test.json', asking('Two', 404))
  expect((await turn()).join('\n')).toMatch(
    /^FAIL Two\n.*got 200\nHello: GET hello ended\n(?:.*\n)+1 tests, 1 failed$/,
  )
  await save('hello.blueprint.json', { name: 'Hello', blocks: { a: { type: 'nothing' } } })
  await turn()
  expect(complained.join()).toContain('hello.blueprint.json')
  await save('hello.blueprint.json', hello('b'))
  expect((await turn()).at(-1)).toBe('2 tests, 1 failed')
  stop.abort()
  expect(await watching).toBe(0)
}, 200_000)
