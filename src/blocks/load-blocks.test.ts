import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { PinError } from './block.ts'
import { findBlocks, loadBlocks } from './load-blocks.ts'

const made: string[] = []

afterEach(async () => {
  for (const directory of made.splice(0)) await rm(directory, { recursive: true })
})

/** A folder of blocks with these files, each the text of a module. */
async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-blocks-'))
  made.push(directory)
  for (const [name, text] of Object.entries(files)) {
    const file = join(directory, name)
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, text)
  }
  return directory
}

function moduleOf(changes: object): string {
  const block = {
    kind: 'value',
    identifier: 'one',
    title: 'One',
    summary: 'One.',
    in: {},
    out: {},
    settings: {},
    ...changes,
  }
  return `export default ${JSON.stringify(block)}`
}

const pin = { type: 'value', help: 'A pin.' }

const refusedCases: readonly [string, string][] = [
  ['export const block = 1', 'is no default export of defineValue, defineFlow or defineTrigger'],
  ['export default { kind: "other" }', 'is no default export of defineValue'],
  ['export default {', 'cannot be loaded'],
  [moduleOf({ identifier: 'two' }), 'calls itself two and must be called as its file'],
  [moduleOf({ aliases: ['One!'] }), 'has the alias "One!"'],
  [moduleOf({ title: ' ' }), 'has no title'],
  [moduleOf({ summary: undefined }), 'has no summary'],
  [moduleOf({ in: { Text: pin } }), 'has the in-pin Text, which may have only a–z, 0–9 and _'],
  [moduleOf({ out: { next: pin } }), 'has the out-pin next, a word that is taken'],
  [moduleOf({ out: { text: { type: 'value', help: '' } } }), 'has no help for the out-pin text'],
  [moduleOf({ out: { text: { ...pin, type: 'text' } } }), 'has the out-pin text of the unknown type text'],
  [moduleOf({ in: { text: { ...pin, default: 'a', required: true } } }), 'required and has a default'],
  [moduleOf({ in: { text: { ...pin, default: 'a', several: true } } }), 'takes several and has a default'],
  [
    moduleOf({ in: { limit: { ...pin, type: 'number', max: 5, default: 6 } } }),
    'has a default for the in-pin limit that the pin refuses: must be a number of at most 5',
  ],
  [moduleOf({ in: { flow: { ...pin, type: 'flow' } } }), 'is a value block and has a flow in-pin'],
  [moduleOf({ out: { flow: { ...pin, type: 'flow' } } }), 'is a value block and has a flow out-pin'],
  [moduleOf({ in: { each: { ...pin, perFrame: true } } }), 'must have perFrame in-pins and frame out-pins'],
  [moduleOf({ settings: { name: { kind: 'text', help: '' } } }), 'has no help for the setting name'],
  [
    moduleOf({ settings: { name: { kind: 'number', help: 'A.', default: 'x' } } }),
    'has a default for the setting name that must be a number',
  ],
]

test.each(refusedCases)('%s: %s', async (text, message) => {
  const directory = await folderOf({ 'group/one.ts': text })
  await expect(loadBlocks(directory)).rejects.toThrow(message)
  await expect(loadBlocks(directory)).rejects.toThrow(join('group', 'one.ts'))
})

test('a name that is taken names both files', async () => {
  const directory = await folderOf({
    'a/one.ts': moduleOf({}),
    'b/two.ts': moduleOf({ identifier: 'two', aliases: ['one'] }),
  })
  await expect(loadBlocks(directory)).rejects.toThrow(
    /two\.ts: The block takes the name one, which .*one\.ts has/,
  )
})

test('blocks are found by folder, sorted, under their aliases too; tests and other files are not blocks', async () => {
  const directory = await folderOf({
    'b/two.ts': moduleOf({ identifier: 'two', aliases: ['the two'] }),
    'a/one.ts': moduleOf({}),
    'a/one.test.ts': 'throw new Error("a test was imported")',
    'a/notes.md': '',
    'shared-by-all.ts': 'throw new Error("not in a group")',
  })
  const found = await findBlocks(directory)
  expect(found.map(({ group, definition }) => [group, definition.identifier])).toEqual([
    ['a', 'one'],
    ['b', 'two'],
  ])
  const catalogue = await loadBlocks(directory)
  expect([...catalogue.keys()]).toEqual(['one', 'two', 'the two'])
  expect(catalogue.get('the two')).toBe(catalogue.get('two'))
})

test('the blocks of this house load, and throw the PinError of this program', async () => {
  const catalogue = await loadBlocks()
  const trigger = catalogue.get('on_startup_register_uri_get')
  if (trigger?.kind !== 'trigger') throw new Error('The trigger is not there.')
  expect(() => trigger.listen({ uri: '../etc' }, {}, [])).toThrow(PinError)
  expect(catalogue.get('http request')).toBe(catalogue.get('http_request'))
})
