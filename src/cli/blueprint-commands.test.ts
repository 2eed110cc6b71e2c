import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quoinCommand } from '../../test/recording-terminal.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function checked(content: string) {
  const file = join(directory, 'blueprint.json')
  await writeFile(file, content)
  const end = await quoinCommand(['check', file])
  return { ...end, lines: end.complained.split('\n').map((line) => line.replace(`${file}: `, '')) }
}

const on = { type: 'on_startup_register_uri_get', in: { uri: 'x' } }

test('a file that is not there, is not JSON or no blueprint is one line', async () => {
  const file = join(directory, 'none.json')
  expect(await quoinCommand(['check', file])).toMatchObject({
    code: 1,
    complained: `There is no file ${file}.`,
  })
  expect((await checked('{ "name": ')).complained).toContain('is not JSON')
  const { code, lines } = await checked('{ "name": "A", "blocks": { "a": { "typ": "x" } } }')
  expect(code).toBe(1)
  expect(lines).toEqual([expect.stringContaining('blocks.a')])
})

test('every problem is listed, with the block and the pin', async () => {
  const blocks = {
    on,
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', valeu: 1 } },
    odd: { type: 'no_such_block' },
    near: { type: 'httpconnection_set_jsn' },
    named: { ...on, in: { uri: 'y' }, fields: { sumary: 'a' } },
    search: { type: 'function_search', in: { flow: '@on.flo', limit: [] } },
  }
  const { code, lines, printed } = await checked(JSON.stringify({ name: 'A', blocks }))
  expect({ code, printed }).toEqual({ code: 1, printed: '' })
  expect(lines).toContainEqual(expect.stringMatching(/^reply\.valeu: /))
  expect(lines).toContainEqual('reply.valeu: The block has no in-pin valeu. Did you mean value?')
  expect(lines).toContainEqual('named.sumary: The block has no setting sumary. Did you mean summary?')
  expect(lines).toContainEqual(expect.stringMatching(/^odd: .*no_such_block/))
  expect(lines).toContainEqual(expect.stringMatching(/^near: .*Did you mean httpconnection_set_json\?$/))
  expect(lines).toContainEqual(expect.stringMatching(/^search\.flow: .*flo, .*Did you mean flow\?$/))
  expect(lines).toContainEqual(expect.stringMatching(/^search\.limit: /))
  expect(lines).toContainEqual(expect.stringMatching(/^search\.storage: /))
})

test('a setting that a block does not have is a problem by itself', async () => {
  const { code, lines } = await checked(
    JSON.stringify({ name: 'A', blocks: { on: { ...on, fields: { sumary: 'a' } } } }),
  )
  expect(code).toBe(1)
  expect(lines.at(-1)).toBe('on.sumary: The block has no setting sumary. Did you mean summary?')
})

test("a path of Quoin's own is a problem", async () => {
  const blocks = { on: { ...on, in: { uri: 'users/all' } } }
  const { code, lines } = await checked(JSON.stringify({ name: 'A', blocks }))
  expect(code).toBe(1)
  expect(lines).toEqual([expect.stringContaining('users/all')])
})

test('a warning is printed and keeps nothing from running', async () => {
  const user = { type: 'user_current' }
  const blocks = {
    on: { ...on, fields: { cache_seconds: 60 } },
    user,
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: '@user.user' } },
  }
  const { code, lines, printed } = await checked(JSON.stringify({ name: 'A', blocks }))
  expect(code).toBe(0)
  expect(printed).toContain('can run')
  expect(lines).toEqual([expect.stringMatching(/^warning: on\.cache_seconds: .*private/)])
})

test.each<[string, Record<string, unknown>, string]>([
  [
    'a limit that its type does not have',
    { fields: [{ storage: 'a', name: 'n', type: 'boolean', validation_rules: { min: 1 } }] },
    'the field n of a: min does not apply to a field of the type boolean. Leave it out.',
  ],
  [
    'a former name that is the name',
    { fields: [{ storage: 'a', name: 'n', type: 'string', was: 'n' }] },
    'the field n of a: was is the former name of a field',
  ],
  [
    'a type that there is not',
    { fields: [{ storage: 'a', name: 'n', type: 'telepathy' }] },
    'the field n of a: type',
  ],
  [
    'a rule that cannot be read',
    { storages: [{ name: 'a', rules: { see: 'doc.open ==' } }] },
    'the storage a: The rule see cannot be used:',
  ],
  [
    'a name of a storage',
    { storages: [{ name: '_users' }] },
    'the storage _users: name must not start with _',
  ],
  ['a key that nothing has', { storages: [{ name: 'a', histroy: true }] }, 'the storage a:'],
  [
    'a scope of a group',
    { groups: [{ name: 'Staff', scopes: ['a b'] }] },
    'the group Staff: The scope "a b"',
  ],
])('%s of a part is a problem before the import', async (_what, parts, reported) => {
  const file = join(directory, 'parts.json')
  await writeFile(file, JSON.stringify({ name: 'Parts', blocks: {}, ...parts }))
  const { code, printed, complained } = await quoinCommand(['check', file])
  expect([code, printed]).toEqual([1, ''])
  expect(complained).toContain(reported)
})

test('the tasks example can run', async () => {
  const file = fileURLToPath(new URL('../../examples/tasks/blueprints/tasks.json', import.meta.url))
  expect(await quoinCommand(['check', file])).toEqual({
    code: 0,
    printed: `${file} can run.`,
    complained: '',
  })
})
